"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  const button = (textContent, title, onclick) => make("button", { type: "button", textContent, title, onclick });

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
    map.append(make("div", { className: "tools" },
      button("+", "closer; or the wheel with Ctrl", () => zoom(0.7)),
      button("−", "farther; or the wheel with Ctrl", () => zoom(1 / 0.7)),
      button("all", "the whole map", () => { view = [...whole]; show(); })));
  }

  // In 3D: the edges of the map, and what changed. It is drawn when it is turned, and not by a card.
  for (const holder of all(".space")) {
    const canvas = make("canvas", { tabIndex: 0 });
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "The map in 3D; arrows turn it, plus and minus come closer and go farther");
    const lists = (name) => (holder.dataset[name] || "").split(",").filter(Boolean).map((list) => {
      const numbers = list.split(" ").map(Number);
      return Array.from({ length: numbers.length / 3 }, (_, at) => numbers.slice(3 * at, 3 * at + 3));
    });
    const [edges, lit, face, gone] = ["edges", "lit", "face", "gone"].map(lists);
    const marks = { added: lists("added"), removed: lists("removed"), changed: lists("changed") };
    const edge = (points, choose) => [0, 1, 2].map((axis) => points.reduce((most, at) => choose(most, at[axis]), points[0][axis]));
    const box = (points) => [edge(points, Math.min), edge(points, Math.max)];
    const whole = box(edges.flat());
    // What changed is in the middle.
    const changes = [...lit, ...face, ...gone, ...Object.values(marks).flat()].flat();
    const near = changes.length ? box(changes) : whole;
    const size = (one) => Math.hypot(...[0, 1, 2].map((axis) => one[1][axis] - one[0][axis]));
    const first = () => ({
      yaw: -0.6, pitch: 0.7, far: Math.max(size(near) * 1.4, size(whole) / 4, 200),
      middle: [0, 1, 2].map((axis) => (near[0][axis] + near[1][axis]) / 2),
    });
    let view = first();
    const context = canvas.getContext("2d");
    // East, north and up of the map as right, ahead and up of the view.
    const turned = (at) => {
      const [x, y, z] = at.map((part, axis) => part - view.middle[axis]);
      const [sin, cos, tilt, flat] = [Math.sin(view.yaw), Math.cos(view.yaw), Math.sin(view.pitch), Math.cos(view.pitch)];
      const ahead = x * sin + y * cos;
      return [x * cos - y * sin, ahead * flat - z * tilt + view.far, ahead * tilt + z * flat];
    };
    const NEAR = 8;
    // What the eye cannot see is cut off.
    const cut = (ring, isClosed) => ring.flatMap((at, index) => {
      const last = index === 0 && !isClosed ? null : ring[(index + ring.length - 1) % ring.length];
      const ends = last && (last[1] < NEAR) !== (at[1] < NEAR);
      const share = ends && (NEAR - last[1]) / (at[1] - last[1]);
      const between = ends ? [at.map((part, axis) => last[axis] + share * (part - last[axis]))] : [];
      return at[1] < NEAR ? between : [...between, at];
    });
    const draw = () => {
      const [width, height] = [canvas.clientWidth, canvas.clientHeight];
      const scale = devicePixelRatio || 1;
      [canvas.width, canvas.height] = [width * scale, height * scale];
      context.setTransform(scale, 0, 0, scale, width * scale / 2, height * scale / 2);
      const color = (name) => getComputedStyle(holder).getPropertyValue(`--${name}`);
      const flat = ([x, ahead, up]) => [x * height / ahead, -up * height / ahead];
      const path = (rings, isClosed) => {
        context.beginPath();
        for (const ring of rings) {
          cut(ring.map(turned), isClosed).forEach((at, index) => context[index ? "lineTo" : "moveTo"](...flat(at)));
          if (isClosed) context.closePath();
        }
      };
      context.strokeStyle = color("wall");
      context.globalAlpha = 0.6;
      path(edges, false);
      context.stroke();
      for (const [rings, name, dash] of [[lit, "lit", []], [gone, "removed", [4, 3]], [face, "face", []]]) {
        context.strokeStyle = context.fillStyle = color(name);
        context.setLineDash(dash);
        path(rings, true);
        context.globalAlpha = 0.25;
        context.fill();
        context.globalAlpha = 1;
        context.stroke();
      }
      for (const [name, places] of Object.entries(marks)) {
        context.strokeStyle = context.fillStyle = color(name);
        context.setLineDash([5, 4]);
        path(places, false);
        context.stroke();
        for (const at of places.map((ways) => turned(ways.at(-1))).filter((at) => at[1] > NEAR)) {
          context.beginPath();
          context.arc(...flat(at), 5, 0, 7);
          context.fill();
        }
      }
      context.setLineDash([]);
    };
    const turn = (yaw, pitch) => {
      view.yaw += yaw;
      view.pitch = Math.max(-1.57, Math.min(1.57, view.pitch + pitch));
      draw();
    };
    const come = (factor) => {
      view.far *= factor;
      draw();
    };
    canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId));
    canvas.addEventListener("pointermove", (event) => {
      if (event.buttons === 1) turn(event.movementX * 0.006, event.movementY * 0.006);
    });
    canvas.addEventListener("wheel", (event) => {
      // Without a key the wheel scrolls the page.
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      come(Math.exp((event.deltaY || event.deltaX) / 400));
    }, { passive: false });
    const keys = {
      ArrowLeft: () => turn(-0.1, 0), ArrowRight: () => turn(0.1, 0), ArrowUp: () => turn(0, -0.1), ArrowDown: () => turn(0, 0.1),
      "+": () => come(0.8), "-": () => come(1.25),
    };
    canvas.addEventListener("keydown", (event) => {
      if (!keys[event.key]) return;
      keys[event.key]();
      event.preventDefault();
    });
    holder.append(canvas, make("div", { className: "tools" },
      button("+", "closer; or the wheel with Ctrl", () => come(0.7)),
      button("−", "farther; or the wheel with Ctrl", () => come(1 / 0.7)),
      button("reset", "what changed in the middle", () => { view = first(); draw(); })));
    holder.closest("section").hidden = false;
    new ResizeObserver(draw).observe(canvas);
    draw();
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
