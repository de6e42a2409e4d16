// Draws the curves of a run while it goes on, from the points that the run has made since the last look.
"use strict";
(() => {
  const EVERY_MS = 1000;
  const [LEFT, RIGHT, TOP, BOTTOM] = [70, 12, 8, 24];
  const UNITS = { rate: [[1e3, "k/s", 1e-3], [0, "/s", 1]], time: [[1, "s", 1], [1e-3, "ms", 1e3], [0, "µs", 1e6]] };
  const status = document.querySelector("header [role=status]");
  const select = document.querySelector("select");
  const legend = document.querySelector(".legend");
  const points = [];
  const contenders = [];
  let made = 0;
  let isChosen = false;

  const svg = (tag, attributes, text = "") => {
    const drawn = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) drawn.setAttribute(name, value);
    drawn.textContent = text;
    return drawn;
  };
  const NAMES = { "": "the server", tare: "null server" };
  const name = (contender) => NAMES[contender] ?? contender;
  const colour = (contender) => `--c: var(--c${(contenders.indexOf(contender) % 8) + 1})`;

  // At most five ticks from 0 on, with a step of 1, 2 or 5 times a power of ten.
  function ticks(most) {
    const step = [1, 2, 5, 10].map((times) => times * 10 ** Math.floor(Math.log10(most / 4))).find((one) => most / one <= 5);
    return Array.from({ length: Math.floor(most / step) + 1 }, (_, number) => number * step);
  }

  function words(value, units, most) {
    const [, unit, times] = units.find(([least]) => most >= least);
    return `${(value * times).toLocaleString("en", { maximumFractionDigits: 3 })} ${unit}`;
  }

  function draw(figure, shown) {
    const seen = shown.filter((point) => Number.isFinite(point[figure]));
    const section = document.getElementById(figure);
    section.hidden = seen.length === 0;
    if (section.hidden) return;
    const canvas = section.querySelector("svg");
    const { width, height } = canvas.getBoundingClientRect();
    const units = figure === "rate" ? UNITS.rate : UNITS.time;
    const most = Math.max(...seen.map((point) => point[figure])) || 1;
    const [from, to] = [seen[0].t, Math.max(seen.at(-1).t, seen[0].t + 1)];
    const x = (t) => LEFT + ((t - from) / (to - from)) * (width - LEFT - RIGHT);
    const y = (value) => height - BOTTOM - (value / most) * (height - TOP - BOTTOM);
    const drawn = ticks(most).flatMap((tick) => [
      svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick) }),
      svg("text", { x: LEFT - 8, y: y(tick) + 4, "text-anchor": "end" }, words(tick, units, most)),
    ]);
    for (const [t, anchor] of [[from, "start"], [to, "end"]]) drawn.push(svg("text", { x: x(t), y: height - 6, "text-anchor": anchor }, `${Math.round(t)} s`));
    for (const contender of contenders) {
      const own = seen.filter((point) => point.contender === contender);
      const line = own.map((point) => `${x(point.t).toFixed(1)},${y(point[figure]).toFixed(1)}`).join(" ");
      drawn.push(svg("polyline", { style: colour(contender), points: line }));
      for (const point of own) {
        const dot = svg("circle", { style: colour(contender), class: point.stage, cx: x(point.t), cy: y(point[figure]), r: 2.5 });
        dot.append(svg("title", {}, `${name(contender)}: ${words(point[figure], units, point[figure])}`));
        drawn.push(dot);
      }
    }
    canvas.replaceChildren(...drawn);
  }

  function show() {
    const shown = points.filter((point) => point.load === select.value);
    const here = contenders.filter((contender) => shown.some((point) => point.contender === contender));
    legend.replaceChildren(
      ...here.map((contender) => {
        const [item, swatch] = [document.createElement("li"), document.createElement("span")];
        swatch.className = "swatch";
        swatch.style = colour(contender);
        item.append(swatch, name(contender));
        return item;
      }),
    );
    for (const figure of ["rate", "p99", "p50", "cpu"]) draw(figure, shown);
  }

  function takeUp(found) {
    made = found.made;
    points.push(...found.points);
    for (const point of found.points) {
      if (!contenders.includes(point.contender)) contenders.push(point.contender);
      if (![...select.options].some((option) => option.value === point.load)) select.append(new Option(point.load || "the load", point.load));
      if (!isChosen) select.value = point.load;
    }
    const { phase, load, contender, round, stage } = found.now;
    const { planned, done } = found.measurements;
    const place = [phase && `phase ${phase}`, load && `load ${load}`, contender && name(contender), round && `round ${round}`, stage === "warmup" ? "warm-up" : ""];
    const progress = planned ? `${done} of ${planned} measurements are done. ` : "";
    const now = place.filter(Boolean).join(", ");
    status.textContent = `${progress}${now ? `Now: ${now}.` : ""}` || "Nothing is measured yet.";
  }

  async function look() {
    try {
      takeUp(await (await fetch(`/points?after=${made}`)).json());
      show();
      setTimeout(look, EVERY_MS);
    } catch {
      status.textContent = "The run has ended. Its figures are in its report.";
    }
  }

  select.addEventListener("change", () => {
    isChosen = true;
    show();
  });
  addEventListener("resize", show);
  look();
})();
