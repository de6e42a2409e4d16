"use strict";
// Draws the differential flame graphs of the page: outermost frames on top, width by the CPU of both contenders together.
document.querySelectorAll("[data-flame]").forEach((figure) => {
  const { names, nodes } = JSON.parse(document.getElementById(figure.dataset.flame).textContent);
  const [canvas, out, input, button] = [".flames", "output", "input", "button"].map((q) => figure.querySelector(q));
  const ROW = 17, parents = [];
  const all = [];
  for (let i = 0; i < nodes.length; i += 4) {
    const [depth, name, a, b] = nodes.slice(i, i + 4);
    const node = { depth, name: names[name], a, b, children: [], parent: parents[depth - 1] || null };
    if (node.parent) node.parent.children.push(node);
    parents[depth] = node;
    all.push(node);
  }
  const root = all[0];
  let shown = root, here = root, wanted = "";
  const us = (ns) => (ns / 1000).toFixed(2);
  const matches = (node) => wanted && node.name.toLowerCase().includes(wanted);
  const colour = ({ a, b }) => {
    const lean = (b - a) / (a + b || 1);
    return `hsl(${lean > 0 ? 30 : 212} ${Math.round(15 + 75 * Math.abs(lean))}% 70%)`;
  };
  const tell = (node) => {
    const more = node.b - node.a;
    out.textContent = `${node.name}: ${us(node.a)} µs in ${figure.dataset.a}, ${us(node.b)} µs in ${figure.dataset.b}, ` +
      `${more < 0 ? "-" : "+"}${us(Math.abs(more))} µs`;
  };
  function place(node, left, width, row, cells) {
    if (width < 0.06) return;
    const cell = document.createElement("b");
    cell.style.cssText = `left:${left}%;width:${width}%;top:${row * ROW}px;background:${colour(node)}`;
    cell.textContent = width > 2 ? node.name : "";
    cell.className = (matches(node) ? "found" : "") + (node === here ? " here" : "");
    cell.onclick = () => { if (here === node) shown = node; here = node; draw(); };
    cell.onpointerenter = () => tell(node);
    cells.push([cell, row]);
    let at = left;
    for (const child of node.children) {
      const share = width * (child.a + child.b) / (node.a + node.b || 1);
      place(child, at, share, row + 1, cells);
      at += share;
    }
  }
  function draw() {
    const cells = [], above = [];
    for (let node = shown.parent; node; node = node.parent) above.unshift(node);
    above.forEach((node, row) => place({ ...node, children: [] }, 0, 100, row, cells));
    above.forEach((node, row) => { cells[row][0].onclick = () => { shown = here = node; draw(); }; });
    place(shown, 0, 100, above.length, cells);
    canvas.style.height = `${(Math.max(...cells.map(([, row]) => row)) + 1) * ROW}px`;
    canvas.replaceChildren(...cells.map(([cell]) => cell));
    tell(here);
  }
  const widest = (list) => list.reduce((x, y) => (!x || y.a + y.b > x.a + x.b ? y : x), null);
  const beside = (step) => {
    const row = here.parent ? here.parent.children : [here];
    return row[row.indexOf(here) + step];
  };
  const keys = {
    ArrowDown: () => widest(here.children),
    ArrowUp: () => here.parent,
    ArrowLeft: () => beside(-1),
    ArrowRight: () => beside(1),
    Enter: () => (shown = here),
    Escape: () => (shown = root),
  };
  canvas.onkeydown = (event) => {
    if (!keys[event.key]) return;
    event.preventDefault();
    here = keys[event.key]() || here;
    draw();
  };
  button.onclick = () => { shown = here = root; draw(); };
  input.oninput = () => {
    wanted = input.value.trim().toLowerCase();
    draw();
    if (!wanted) return;
    // Of nested matches the outermost counts: it holds the others.
    const top = all.filter((node) => { for (let n = node.parent; n; n = n.parent) if (matches(n)) return false; return matches(node); });
    const sum = (key) => us(top.reduce((total, node) => total + node[key], 0));
    out.textContent = `${top.length} found: ${sum("a")} µs in ${figure.dataset.a}, ${sum("b")} µs in ${figure.dataset.b}`;
  };
  draw();
});
