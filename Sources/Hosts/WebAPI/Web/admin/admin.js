// The operator's page: asks for the figures every two seconds and draws the last five minutes of each.

const interval = 2000;
const kept = 150;

// `rate` marks counters that are shown as what they grew by each second.
const charts = [
  { name: "Live calls", read: (figures) => figures.calls },
  { name: "Realtime sessions", read: (figures) => figures.sessions },
  { name: "Relay allocations", read: (figures) => figures.allocations },
  { name: "Packets relayed", read: (figures) => figures.packets, rate: true, unit: "/s" },
  { name: "Bandwidth relayed", read: (figures) => figures.bytes * 8, rate: true, unit: "bit/s" },
  { name: "Gateway legs", read: (figures) => figures.legs },
  { name: "Packets from the gateway", read: (figures) => figures.mediaPackets, rate: true, unit: "/s" },
  { name: "Bandwidth from the gateway", read: (figures) => figures.mediaBytes * 8, rate: true, unit: "bit/s" },
  { name: "Requests answered", read: (figures) => figures.requests, rate: true, unit: "/s" },
  { name: "Requests rejected", read: (figures) => figures.rejected, rate: true, unit: "/s" },
  { name: "Memory", read: (figures) => figures.memory, unit: "B" },
];

const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat("en");

for (const chart of charts) {
  const figure = document.createElement("figure");
  chart.caption = document.createElement("figcaption");
  chart.caption.textContent = chart.name;
  chart.output = document.createElement("output");
  chart.output.textContent = "–";
  chart.canvas = document.createElement("canvas");
  chart.canvas.setAttribute("role", "img");
  chart.canvas.setAttribute("aria-label", `${chart.name}, the last five minutes`);
  chart.values = [];
  figure.append(chart.caption, chart.output, chart.canvas);
  document.querySelector("#charts").append(figure);
}

function draw({ canvas, values }) {
  const scale = window.devicePixelRatio || 1;
  const width = (canvas.width = canvas.clientWidth * scale);
  const height = (canvas.height = canvas.clientHeight * scale);
  const context = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const top = Math.max(1, ...values);
  const point = (value, index) => [
    width - ((values.length - 1 - index) * width) / (kept - 1),
    height - 2 * scale - (value / top) * (height - 6 * scale),
  ];
  context.clearRect(0, 0, width, height);
  if (values.length < 2) return;
  context.beginPath();
  values.forEach((value, index) => context.lineTo(...point(value, index)));
  context.lineWidth = 1.5 * scale;
  context.strokeStyle = style.getPropertyValue("--line");
  context.stroke();
  context.lineTo(width, height);
  context.lineTo(point(values[0], 0)[0], height);
  context.fillStyle = style.getPropertyValue("--fill");
  context.fill();
}

function show(figures, earlier) {
  for (const chart of charts) {
    const now = chart.read(figures);
    if (chart.rate && !earlier) continue;
    const seconds = earlier ? (figures.at - earlier.at) / 1000 : 1;
    const value = chart.rate ? Math.max(0, (now - chart.read(earlier)) / seconds) : now;
    chart.values.push(value);
    if (chart.values.length > kept) chart.values.shift();
    chart.output.textContent = short.format(value) + (chart.unit ? ` ${chart.unit}` : "");
    draw(chart);
  }
  const rows = Object.entries(figures.reasons).filter(([, count]) => count > 0).map(([reason, count]) => {
    const row = document.createElement("tr");
    for (const text of [reason, whole.format(count)]) {
      const cell = document.createElement("td");
      cell.textContent = text;
      row.append(cell);
    }
    return row;
  });
  document.querySelector("#reasons").replaceChildren(...rows);
}

let earlier = null;
const state = document.querySelector("#state");

async function refresh() {
  try {
    const response = await fetch("/admin/figures");
    if (!response.ok) throw new Error(String(response.status));
    const figures = await response.json();
    show(figures, earlier);
    earlier = figures;
    state.textContent = `${figures.version}, up for ${whole.format(Math.round(figures.uptime / 60))} minutes`;
  } catch {
    earlier = null;
    state.textContent = "The server does not answer.";
  }
  setTimeout(refresh, interval);
}

refresh();
