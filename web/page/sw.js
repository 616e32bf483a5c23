// Keeps the page for use without a network. `build.sh` fills in the files and the sum of all of them.
const NAME = "bspkit-{{sum}}";
const FILES = {{files}};

self.addEventListener("install", (event) => {
    event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(FILES)));
});
self.addEventListener("activate", (event) => {
    const old = async () => {
        for (const name of await caches.keys()) if (name.startsWith("bspkit-") && name !== NAME) await caches.delete(name);
        await self.clients.claim();
    };
    event.waitUntil(old());
});
self.addEventListener("fetch", (event) => {
    if (event.request.method !== "GET" || new URL(event.request.url).origin !== self.location.origin) return;
    const kept = caches.open(NAME).then((cache) => cache.match(event.request, { ignoreSearch: true }));
    event.respondWith(kept.then((found) => found ?? fetch(event.request)));
});
