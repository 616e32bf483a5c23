// Uses the tools of the page as a user would, and writes what is wrong into an attribute of the document.
const wrong = [];
const check = (what, is) => is || wrong.push(what);
const style = (element, name) => getComputedStyle(element)[name];
const event = (element, type) => element.dispatchEvent(new Event(type, { bubbles: true }));
try {
  const pairs = [...document.querySelectorAll("figure.pair")];
  check("two pairs or more", pairs.length >= 2);
  for (const figure of pairs) {
    const [old, now, difference] = ["old", "new", "difference"].map((name) => figure.querySelector(".view." + name));
    check("images are loaded", [...figure.querySelectorAll("img")].every((image) => image.complete && image.naturalWidth > 0));
    const button = (mode) => figure.querySelector(`button[data-mode=${mode}]`);
    check("side by side first", old.offsetLeft < now.offsetLeft && now.offsetLeft < difference.offsetLeft);
    button("slider").click();
    check("stacked", old.offsetLeft === now.offsetLeft && style(difference, "display") === "none");
    const range = figure.querySelector("input[type=range]");
    const clip = () => style(now.querySelector(".frame"), "clipPath");
    const half = clip();
    range.value = 20;
    event(range, "input");
    check("the slider cuts the image: " + half, half !== "none" && clip() !== half && clip().includes("20%"));
    button("blink").click();
    const first = style(now, "visibility");
    button("blink").click();
    check("blinks", first === "visible" && style(now, "visibility") === "hidden");
    button("difference").click();
    check("only the difference", style(old, "display") === "none" && style(difference, "display") !== "none");
    button("sides").click();
    check("side by side again", style(old, "display") !== "none" && range.hidden);
  }
  const svg = document.querySelector(".map svg");
  const whole = svg.getAttribute("viewBox");
  const [closer, , all] = document.querySelectorAll(".map button");
  closer.click();
  check("closer", Number(svg.getAttribute("viewBox").split(" ")[2]) < Number(whole.split(" ")[2]));
  all.click();
  check("all of the map", svg.getAttribute("viewBox") === whole);
  check("marks", svg.querySelectorAll("a.added .dot").length === 12);

  const space = document.querySelector(".space canvas");
  const colors = () => {
    const { data } = space.getContext("2d").getImageData(0, 0, space.width, space.height);
    const found = new Set();
    for (let at = 0; at < data.length; at += 4) if (data[at + 3] === 255) found.add(data.slice(at, at + 3).join());
    return found;
  };
  const drawn = () => space.toDataURL();
  const [before, painted] = [drawn(), colors()];
  const added = getComputedStyle(document.documentElement).getPropertyValue("--added").trim();
  const rgb = [1, 3, 5].map((at) => parseInt(added.slice(at, at + 2), 16)).join();
  check("3D: added entities: " + rgb, space.offsetHeight > 100 && painted.has(rgb));
  space.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
  check("3D: it turns", drawn() !== before);
  document.querySelectorAll(".space button")[2].click();
  check("3D: as before", drawn() === before);

  const entities = [...document.querySelectorAll("details.entity")];
  const filter = document.querySelector("#entities input");
  filter.value = "PLANTED message";
  event(filter, "input");
  const shown = entities.filter((entity) => entity.offsetHeight > 0);
  check("one entity is found", entities.length > 8 && shown.length === 1 && shown[0].textContent.includes("a planted message"));
  filter.value = "";
  event(filter, "input");
  const closed = entities.find((entity) => !entity.open);
  location.hash = closed.id;
  addEventListener("hashchange", () => {
    check("a link opens an entity", closed.open);
    document.documentElement.dataset.seen = wrong.join("; ") || "ok";
  });
} catch (error) {
  document.documentElement.dataset.seen = [...wrong, error].join("; ");
}
