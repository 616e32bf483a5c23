"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  // Images: side by side, with a slider, blinking, or only the difference.
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  for (const figure of all("figure.pair")) {
    const views = figure.querySelector(".views");
    const said = make("span", { className: "note" });
    const range = make("input", { type: "range", min: 0, max: 100, step: 0.5, value: 50, hidden: true });
    range.setAttribute("aria-label", "how much of the image is the one before");
    let timer = 0;
    const flip = () => {
      said.textContent = figure.classList.toggle("flipped") ? "after" : "before";
    };
    const slide = () => figure.style.setProperty("--part", `${range.value}%`);
    const modes = { sides: "Side by side", slider: "Slider", blink: "Blink", difference: "Difference" };
    const buttons = Object.entries(modes).map(([mode, textContent]) => {
      const button = make("button", { type: "button", textContent });
      button.dataset.mode = mode;
      button.onclick = () => choose(mode);
      return button;
    });
    const choose = (mode) => {
      const again = figure.dataset.mode === mode;
      figure.dataset.mode = mode;
      buttons.forEach((button) => button.setAttribute("aria-pressed", button.dataset.mode === mode));
      range.hidden = mode !== "slider";
      clearInterval(timer);
      said.textContent = "";
      if (mode === "slider") slide();
      if (mode === "blink") {
        if (!again) figure.classList.remove("flipped");
        flip();
        if (!isCalm) timer = setInterval(flip, 700);
      }
    };
    range.oninput = slide;
    const drag = (event) => {
      if (figure.dataset.mode !== "slider" || event.buttons !== 1) return;
      const box = views.getBoundingClientRect();
      range.value = (100 * (event.clientX - box.left)) / box.width;
      slide();
      event.preventDefault();
    };
    views.addEventListener("pointerdown", drag);
    views.addEventListener("pointermove", drag);
    views.addEventListener("dragstart", (event) => event.preventDefault());
    views.before(make("div", { className: "tools" }, ...buttons, range, said));
    choose("sides");
  }

  // The view from above: zoom and move.
  for (const map of all(".map")) {
    const svg = map.querySelector("svg");
    const whole = svg.getAttribute("viewBox").split(" ").map(Number);
    let view = [...whole];
    const show = () => svg.setAttribute("viewBox", view.join(" "));
    const place = (event) => {
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      return [point.x, point.y];
    };
    const zoom = (factor, [x, y] = [view[0] + view[2] / 2, view[1] + view[3] / 2]) => {
      const width = Math.min(Math.max(view[2] * factor, whole[2] / 100), whole[2]);
      const scale = width / view[2];
      view = [x - (x - view[0]) * scale, y - (y - view[1]) * scale, width, view[3] * scale];
      show();
    };
    svg.addEventListener("wheel", (event) => {
      // Without a key the wheel scrolls the page.
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      zoom(Math.exp((event.deltaY || event.deltaX) / 400), place(event));
    }, { passive: false });
    let from = null;
    svg.addEventListener("pointerdown", (event) => (from = event.button === 0 ? place(event) : null));
    svg.addEventListener("pointermove", (event) => {
      if (!from || event.buttons !== 1) return;
      const [x, y] = place(event);
      view[0] += from[0] - x;
      view[1] += from[1] - y;
      show();
    });
    svg.addEventListener("dragstart", (event) => event.preventDefault());
    const button = (textContent, title, onclick) => make("button", { type: "button", textContent, title, onclick });
    map.append(make("div", { className: "tools" },
      button("+", "closer; or the wheel with Ctrl", () => zoom(0.7)),
      button("−", "farther; or the wheel with Ctrl", () => zoom(1 / 0.7)),
      button("all", "the whole map", () => { view = [...whole]; show(); })));
  }

  // Entities: a filter. A link to an entity opens it.
  const entities = all("details.entity");
  if (entities.length > 8) {
    const filter = make("input", { type: "search", placeholder: "Filter entities: a class, a key, a value" });
    filter.setAttribute("aria-label", filter.placeholder);
    const texts = entities.map((entity) => entity.textContent.toLowerCase());
    filter.oninput = () => {
      const words = filter.value.toLowerCase().split(/\s+/);
      entities.forEach((entity, at) => (entity.hidden = !words.every((word) => texts[at].includes(word))));
    };
    document.querySelector("#entities h2").after(filter);
  }
  const open = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const details = target && target.closest("details");
    if (details) details.open = true;
  };
  addEventListener("hashchange", open);
  open();
  addEventListener("beforeprint", () => all("details").forEach((details) => (details.open = true)));

  document.documentElement.dataset.ready = "yes";
})();
