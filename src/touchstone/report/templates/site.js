// The board, and two contenders side by side. What is shown stands behind the # of the address.
"use strict";
(() => {
  const { runs, contenders, boards } = JSON.parse(document.getElementById("data").textContent);
  const VERDICTS = ["valid", "suspect", "invalid"];
  const [RUN, NAME, MEDIAN, LOW, HIGH, GROUP, VERDICT] = [0, 1, 2, 3, 4, 5, 6];
  const [boardForm, pairForm] = document.querySelectorAll("form.controls");
  const status = document.querySelector("#board .status");
  const noInterval = document.querySelector(".no-interval");
  const pairStatus = document.querySelector(".pair-status");
  const unique = (values) => [...new Set(values)];
  const make = (tag, text = "", attributes = {}) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.textContent = text;
    return made;
  };

  const read = () => Object.fromEntries(new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : ""));
  let state = read();
  const write = (changes) => {
    state = Object.fromEntries(Object.entries({ ...state, ...changes }).filter(([, value]) => value !== ""));
    history.replaceState(null, "", `#${new URLSearchParams(state)}`);
    show();
  };

  // Fill a choice, and give what is chosen: what the address says, where there is such a one.
  function choice(form, name, values, none) {
    const select = form.elements[name];
    const options = [...(none === undefined ? [] : [make("option", none, { value: "" })]), ...values.map((one) => make("option", one, { value: one }))];
    if (options.map((one) => one.value).join("\n") !== [...select.options].map((one) => one.value).join("\n")) select.replaceChildren(...options);
    select.value = values.includes(state[name]) ? state[name] : none === undefined ? (values[0] ?? "") : "";
    return select.value;
  }

  const number = (value) => (value === null ? "–" : value.toLocaleString("en", { maximumFractionDigits: 9 }));
  const interval = (row) => (row[LOW] === null || row[HIGH] === null || row[LOW] === row[HIGH] ? "" : `${number(row[LOW])} to ${number(row[HIGH])}`);

  // A contender's newest run of each machine, unless older ones are wanted.
  function newest(rows) {
    const held = new Map();
    for (const row of rows) held.set(`${row[NAME]}\n${runs[row[RUN]].machine}`, row);
    return [...held.values()];
  }

  const ORDERS = {
    group: (board) => (row) => row[GROUP] || Infinity,
    contender: () => (row) => contenders[row[NAME]],
    value: (board) => (row) => (row[MEDIAN] === null ? Infinity : -(board.better || 1) * row[MEDIAN]),
    run: () => (row) => runs[row[RUN]].date,
  };

  function heads(table, columns) {
    const row = table.tHead.rows[0];
    const [name, way] = (state.sort ?? "value").split(":");
    row.replaceChildren(
      ...columns.map(([key, title, kind]) => {
        const head = make("th", "", { scope: "col", class: kind ?? "" });
        if (!(key in ORDERS)) head.textContent = title;
        else {
          const button = make("button", title, { type: "button", class: "sort" });
          if (key === name) head.setAttribute("aria-sort", way === "down" ? "descending" : "ascending");
          button.onclick = () => {
            write({ sort: key === name && way !== "down" ? `${key}:down` : key });
            [...row.querySelectorAll("button")].find((one) => one.textContent === title)?.focus();
          };
          head.append(button);
        }
        return head;
      }),
    );
  }

  function sorted(rows, board) {
    const [name, way] = (state.sort ?? "value").split(":");
    const key = (ORDERS[name] ?? ORDERS.value)(board);
    const sign = way === "down" ? -1 : 1;
    return rows.map((row) => [key(row), row]).sort(([x], [y]) => sign * (x < y ? -1 : x > y ? 1 : 0)).map(([, row]) => row);
  }

  function showBoard() {
    const scenario = choice(boardForm, "scenario", unique(boards.map((board) => board.scenario)));
    const ofScenario = boards.filter((board) => board.scenario === scenario);
    const place = choice(boardForm, "place", unique(ofScenario.map((board) => board.place)));
    const ofPlace = ofScenario.filter((board) => board.place === place);
    const figure = choice(boardForm, "figure", unique(ofPlace.map((board) => board.figure)));
    const board = ofPlace.find((one) => one.figure === figure);
    const machine = choice(boardForm, "machine", unique((board?.rows ?? []).map((row) => runs[row[RUN]].machine)), "all");
    boardForm.elements.since.value = state.since ?? "";
    if (document.activeElement !== boardForm.elements.q) boardForm.elements.q.value = state.q ?? "";
    boardForm.elements.all.checked = state.all === "1";
    if (!board) return;
    const words = (state.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const rows = state.all === "1" ? board.rows : newest(board.rows);
    const shown = rows.filter(
      (row) =>
        (!machine || runs[row[RUN]].machine === machine) &&
        (!state.since || runs[row[RUN]].date >= state.since) &&
        words.every((word) => contenders[row[NAME]].toLowerCase().includes(word)),
    );
    const table = document.getElementById("board-table");
    heads(table, [["group", "group", "num"], ["contender", "contender"], ["value", `${board.figure}${board.unit ? `, ${board.unit}` : ""}`, "num"], ["verdict", "verdict"], ["run", "run"]]);
    let before = null;
    const made = sorted(shown, board).map((row) => {
      const run = runs[row[RUN]];
      const line = make("tr", "", { class: VERDICTS[row[VERDICT]] });
      if ((state.sort ?? "value") === "value" && before && row[RUN] === before[RUN] && row[GROUP] > before[GROUP]) line.classList.add("first-of-group");
      before = row;
      const value = make("td", "", { class: "num" });
      value.append(make("span", number(row[MEDIAN]), { class: "value" }));
      if (interval(row)) value.append(make("span", interval(row), { class: "ci" }));
      const link = make("td");
      const date = run.date || "no date";
      link.append(run.report ? make("a", date, { href: run.report, title: run.machine }) : make("span", `${date}, imported`, { title: run.machine }));
      line.append(make("td", row[GROUP] || "–", { class: "num" }), make("th", contenders[row[NAME]], { scope: "row" }), value, make("td", VERDICTS[row[VERDICT]], { class: VERDICTS[row[VERDICT]] }), link);
      return line;
    });
    table.tBodies[0].replaceChildren(...made);
    const better = board.better > 0 ? "; higher is better" : board.better < 0 ? "; lower is better" : "";
    status.textContent = `${shown.length} of ${rows.length} shown${better}`;
    const bare = shown.filter((row) => row[LOW] === null && VERDICTS[row[VERDICT]] !== "invalid").length;
    const which = bare === shown.length ? "No rank here has an interval behind it" : `${bare} of ${shown.length} values have no interval, and so no group`;
    noInterval.hidden = bare === 0;
    noInterval.textContent = bare ? `${which}: the source has too few measurements of each. That one value is above another may be chance.` : "";
  }

  function showPair() {
    const scenario = boardForm.elements.scenario.value;
    const mine = boards.filter((board) => board.scenario === scenario);
    const names = unique(mine.flatMap((board) => board.rows.map((row) => contenders[row[NAME]]))).sort();
    const a = choice(pairForm, "a", names);
    const b = choice(pairForm, "b", names.includes(state.b) ? names : [...names.slice(1), ...names.slice(0, 1)]);
    const table = document.getElementById("pair-table");
    const heading = [["", "load"], ["", "figure"], ["", a, "num"], ["", b, "num"], ["", "separated"]];
    heads(table, heading);
    const lines = [];
    let run = null;
    for (const board of mine) {
      const rows = board.rows.filter((row) => [a, b].includes(contenders[row[NAME]]));
      const last = Math.max(...rows.map((row) => row[RUN]).filter((at) => rows.filter((row) => row[RUN] === at).length === 2), -1);
      const [one, other] = [a, b].map((name) => rows.find((row) => row[RUN] === last && contenders[row[NAME]] === name));
      if (!one || !other || a === b) continue;
      run = runs[last];
      const line = make("tr");
      const unit = board.unit ? ` ${board.unit}` : "";
      line.append(make("th", board.place, { scope: "row" }), make("td", board.figure));
      for (const row of [one, other]) {
        const cell = make("td", "", { class: `num ${VERDICTS[row[VERDICT]]}` });
        cell.append(make("span", `${number(row[MEDIAN])}${unit}`, { class: "value" }), make("span", interval(row), { class: "ci" }));
        line.append(cell);
      }
      line.append(make("td", apart(one, other, board, a, b)));
      lines.push(line);
    }
    table.tBodies[0].replaceChildren(...lines);
    pairStatus.textContent = run ? `Both in the newest run that has both, of ${run.date || "no date"}.${run.report ? " The report of the run has their ratios." : ""}` : "No run has both.";
  }

  function apart(one, other, board, a, b) {
    if (VERDICTS[one[VERDICT]] === "invalid" || VERDICTS[other[VERDICT]] === "invalid") return "invalid";
    // Ratios to the run's baseline, where both have one: the machine's noise cancels in them.
    const ratios = one.length > 7 && other.length > 7;
    const [from, to, otherFrom, otherTo] = [one, other].flatMap((row) => (ratios ? row.slice(7) : [row[LOW], row[HIGH]]));
    if ([from, to, otherFrom, otherTo].includes(null)) return "no interval";
    if (from <= otherTo && otherFrom <= to) return "no: the intervals overlap";
    const name = from > otherTo === board.better > 0 ? a : b;
    return board.better ? `yes: ${name} is better` : "yes";
  }

  function show() {
    showBoard();
    showPair();
  }

  for (const form of [boardForm, pairForm]) {
    form.hidden = false;
    form.onsubmit = (event) => event.preventDefault();
    form.oninput = ({ target }) => write({ [target.name]: target.type === "checkbox" ? (target.checked ? "1" : "") : target.value });
  }
  addEventListener("hashchange", () => {
    if (!location.hash.includes("=")) return;
    state = read();
    show();
  });
  show();
})();
