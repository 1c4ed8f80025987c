// The operator's page: polls the server's statistics every two seconds and draws the last five minutes of each.

const interval = 2000;
const maxSamples = 150;

// `rate` marks counters that are shown as their growth per second.
const charts = [
  { name: "Live calls", read: (stats) => stats.calls },
  { name: "Realtime sessions", read: (stats) => stats.sessions },
  { name: "Relay allocations", read: (stats) => stats.allocations },
  { name: "Packets relayed", read: (stats) => stats.packets, rate: true, unit: "/s" },
  { name: "Bandwidth relayed", read: (stats) => stats.bytes * 8, rate: true, unit: "bit/s" },
  { name: "Gateway legs", read: (stats) => stats.legs },
  { name: "Packets from the gateway", read: (stats) => stats.mediaPackets, rate: true, unit: "/s" },
  { name: "Bandwidth from the gateway", read: (stats) => stats.mediaBytes * 8, rate: true, unit: "bit/s" },
  { name: "Requests handled", read: (stats) => stats.requests, rate: true, unit: "/s" },
  { name: "Requests rejected", read: (stats) => stats.rejected, rate: true, unit: "/s" },
  { name: "Memory", read: (stats) => stats.memory, unit: "B" },
];

const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat("en");

for (const chart of charts) {
  const element = document.createElement("figure");
  chart.caption = document.createElement("figcaption");
  chart.caption.textContent = chart.name;
  chart.output = document.createElement("output");
  chart.output.textContent = "–";
  chart.canvas = document.createElement("canvas");
  chart.canvas.setAttribute("role", "img");
  chart.canvas.setAttribute("aria-label", `${chart.name}, the last five minutes`);
  chart.values = [];
  element.append(chart.caption, chart.output, chart.canvas);
  document.querySelector("#charts").append(element);
}

function draw({ canvas, values }) {
  const scale = window.devicePixelRatio || 1;
  const width = (canvas.width = canvas.clientWidth * scale);
  const height = (canvas.height = canvas.clientHeight * scale);
  const context = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const top = Math.max(1, ...values);
  const point = (value, index) => [
    width - ((values.length - 1 - index) * width) / (maxSamples - 1),
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

function show(stats, earlier) {
  for (const chart of charts) {
    const now = chart.read(stats);
    if (chart.rate && !earlier) continue;
    const seconds = earlier ? (stats.at - earlier.at) / 1000 : 1;
    const value = chart.rate ? Math.max(0, (now - chart.read(earlier)) / seconds) : now;
    chart.values.push(value);
    if (chart.values.length > maxSamples) chart.values.shift();
    chart.output.textContent = short.format(value) + (chart.unit ? ` ${chart.unit}` : "");
    draw(chart);
  }
  const rows = Object.entries(stats.reasons).filter(([, count]) => count > 0).map(([reason, count]) => {
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
    const stats = await response.json();
    show(stats, earlier);
    earlier = stats;
    state.textContent = `${stats.version}, up for ${whole.format(Math.round(stats.uptime / 60))} minutes`;
  } catch {
    earlier = null;
    state.textContent = "The server does not respond.";
  }
  setTimeout(refresh, interval);
}

refresh();
