// `sse_fetch.mjs URL STREAMS SECONDS`: reads streams of server-sent events with Node's fetch (undici), and prints how many
// events came.
const [url, streams, seconds] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const end = performance.now() + seconds * 1000;
let events = 0;

async function consume() {
  while (performance.now() < end) {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of (await fetch(url)).body) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop();
      for (const line of lines) events += line.startsWith("data:") ? 1 : 0;
    }
  }
}

await Promise.all(Array.from({ length: streams }, consume));
console.log("events", events);
