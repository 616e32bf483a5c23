// Reads glTF files with Khronos' validator, and prints what it finds in each: a line with the counts, then the messages of
// errors and warnings. The first argument is the folder in which the package is installed.

const fs = require("fs");
const path = require("path");

const [folder, ...files] = process.argv.slice(2);
const validator = require(path.join(folder, "node_modules", "gltf-validator"));

async function look(file) {
    const load = (uri) => Promise.resolve(new Uint8Array(fs.readFileSync(path.join(path.dirname(file), decodeURIComponent(uri)))));
    const options = { uri: path.basename(file), maxIssues: 1000, externalResourceFunction: load };
    const { issues } = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)), options);
    console.log(`GLTF ${file} errors ${issues.numErrors} warnings ${issues.numWarnings} infos ${issues.numInfos}`);
    issues.messages.filter((it) => it.severity < 2).slice(0, 5).forEach((it) => console.log(`  ${it.code} ${it.pointer}: ${it.message}`));
}

files.reduce((before, file) => before.then(() => look(file)), Promise.resolve()).catch((error) => {
    console.error(error);
    process.exit(1);
});
