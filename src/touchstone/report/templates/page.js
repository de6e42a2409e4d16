// What a page can do beyond being read: everything on it can be read without this script.
"use strict";
(() => {
  const all = (where, what) => [...where.querySelectorAll(what)];
  const make = (tag, attributes = {}, text = "") => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.textContent = text;
    return made;
  };
  // A page opened from a file may have no storage.
  const remembered = (name, value) => {
    try {
      if (value === undefined) return localStorage.getItem(name);
      localStorage.setItem(name, value);
    } catch { /* then nothing is remembered */ }
    return null;
  };

  function themes() {
    const names = ["auto", "light", "dark"];
    const button = make("button", { type: "button" });
    const show = (name) => {
      if (name === "auto") delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = name;
      button.textContent = `Colours: ${name}`;
      button.onclick = () => {
        const next = names[(names.indexOf(name) + 1) % names.length];
        remembered("touchstone-theme", next);
        show(next);
      };
    };
    show(names.includes(remembered("touchstone-theme")) ? remembered("touchstone-theme") : "auto");
    const tools = document.querySelector(".tools");
    tools.append(button);
    tools.hidden = false;
  }

  function switches() {
    const entries = all(document, "[data-switch]");
    if (entries.length < 2) return;
    for (const entry of entries) {
      const name = entry.dataset.switch;
      const button = make("button", { type: "button", class: "switch", "aria-pressed": "true", title: "Show or hide it in all plots" });
      button.append(...entry.childNodes);
      entry.append(button);
      button.onclick = () => {
        const shown = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(shown));
        for (const mark of all(document, "[data-contender]"))
          if (mark.dataset.contender === name) mark.classList.toggle("off", !shown);
      };
    }
  }

  function sorting() {
    for (const table of all(document, "table[data-sortable]")) {
      const body = table.tBodies[0];
      const original = [...body.rows];
      const heads = all(table.tHead, "th");
      heads.forEach((head, column) => {
        const button = make("button", { type: "button", class: "sort" });
        button.append(...head.childNodes);
        head.append(button);
        button.onclick = () => {
          const before = head.getAttribute("aria-sort");
          heads.forEach((other) => other.removeAttribute("aria-sort"));
          const way = before === "ascending" ? "descending" : before === "descending" ? null : "ascending";
          if (way) head.setAttribute("aria-sort", way);
          body.append(...(way ? sorted(original, column, way === "ascending" ? 1 : -1) : original));
        };
      });
    }
  }

  // What has no value stands last, whichever way.
  function sorted(rows, column, sign) {
    const key = (row) => {
      const cell = row.cells[column];
      if (!cell) return null;
      if (column === 0) return cell.querySelector(".name")?.textContent ?? cell.textContent;
      return cell.dataset.order === undefined ? null : Number(cell.dataset.order);
    };
    return [...rows].sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === null || y === null) return (x === null) - (y === null);
      return sign * (x < y ? -1 : x > y ? 1 : 0);
    });
  }

  function filters() {
    for (const table of all(document, "table[data-filterable]")) {
      const rows = [...table.tBodies[0].rows];
      if (rows.length < 8) continue;
      const input = make("input", { type: "search", class: "filter", placeholder: "filter figures", "aria-label": "Filter the figures of this table" });
      input.oninput = () => {
        const words = input.value.toLowerCase().split(/\s+/);
        for (const row of rows) row.hidden = !words.every((word) => row.cells[0].textContent.toLowerCase().includes(word));
      };
      table.parentElement.before(input);
    }
  }

  function values() {
    const tip = make("div", { class: "tip", role: "status", "aria-live": "polite", hidden: "" });
    document.body.append(tip);
    for (const plot of all(document, ".plot")) {
      const svg = plot.querySelector("svg");
      const lines = all(svg, "g.mark[data-y]").map(line).filter((found) => found);
      const spots = all(svg, "g.mark[data-says]").map(spot);
      if (!lines.length && !spots.length) continue;
      plot.tabIndex = 0;
      plot.setAttribute("role", "group");
      plot.setAttribute("aria-label", `${svg.querySelector("title").textContent}; arrow keys read its values`);
      const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
      dot.setAttribute("class", "dot");
      dot.setAttribute("r", "4.5");
      svg.append(dot);
      const visible = () => [...lines, ...spots].filter((group) => !group.element.classList.contains("off"));
      let at = [0, -1];
      const show = (group, index) => {
        const point = group.points[index];
        dot.setAttribute("cx", point.x);
        dot.setAttribute("cy", point.y);
        tip.textContent = point.text;
        tip.hidden = false;
        plot.classList.add("reading");
        const on = new DOMPoint(point.x, point.y).matrixTransform(svg.getScreenCTM());
        const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
        tip.style.left = `${Math.max(8, Math.min(on.x + 12, room)) + scrollX}px`;
        tip.style.top = `${on.y + scrollY - tip.offsetHeight - 10}px`;
      };
      const hide = () => {
        tip.hidden = true;
        plot.classList.remove("reading");
      };
      plot.onpointermove = (event) => {
        const matrix = svg.getScreenCTM();
        const here = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
        let best = null;
        visible().forEach((group, g) =>
          group.points.forEach((point, p) => {
            const far = Math.hypot(point.x - here.x, point.y - here.y);
            if (far < (best?.far ?? 40)) best = { far, g, p };
          }),
        );
        if (!best) return hide();
        at = [best.g, best.p];
        show(visible()[best.g], best.p);
      };
      plot.onpointerleave = hide;
      plot.onblur = hide;
      plot.onkeydown = (event) => {
        const groups = visible();
        if (!groups.length) return;
        const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
        if (event.key === "Escape") return hide();
        if (!step) return;
        event.preventDefault();
        const g = (Math.min(at[0], groups.length - 1) + step[0] + groups.length) % groups.length;
        const p = Math.max(0, Math.min(groups[g].points.length - 1, at[1] + step[1]));
        at = [g, p];
        show(groups[g], p);
      };
    }
  }

  // The vertices of a path, whose values stand next to it in the same order.
  function line(element) {
    const d = element.querySelector("path")?.getAttribute("d");
    if (!d) return null;
    const corners = [...d.matchAll(/[ML]\s*(-?[\d.]+)\s+(-?[\d.]+)/g)].map((found) => [Number(found[1]), Number(found[2])]);
    const { contender, x, y, xUnit, yUnit } = element.dataset;
    const [xs, ys] = [x.split(" "), y.split(" ")];
    // A stepped line has a corner before each value.
    const stride = corners.length === 2 * ys.length - 1 ? 2 : 1;
    if (corners.length !== stride * (ys.length - 1) + 1) return null;
    const points = ys.map((value, i) => ({
      x: corners[i * stride][0],
      y: corners[i * stride][1],
      text: `${contender}: ${[value, yUnit].filter(Boolean).join(" ")} at ${[xs[i], xUnit].filter(Boolean).join(" ")}`,
    }));
    return { element, points };
  }

  function spot(element) {
    const used = element.querySelector("use");
    const box = element.getBBox();
    const x = used ? Number(used.getAttribute("x")) : box.x + box.width / 2;
    const y = used ? Number(used.getAttribute("y")) : box.y + box.height / 2;
    return { element, points: [{ x, y, text: `${element.dataset.contender}: ${element.dataset.says}` }] };
  }

  // A finding or a figure that a link names may lie folded.
  function unfold() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let around = target; around; around = around.parentElement?.closest("details")) around.open = true;
    if (target) target.scrollIntoView();
  }

  themes();
  switches();
  sorting();
  filters();
  values();
  addEventListener("hashchange", unfold);
  addEventListener("beforeprint", () => all(document, "details.cases-of").forEach((folded) => (folded.open = true)));
  unfold();
})();
