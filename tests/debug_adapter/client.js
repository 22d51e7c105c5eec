// A client of the Debug Adapter Protocol by Microsoft's own test support: what it sees is printed, a line each.
const { DebugClient } = require("@vscode/debugadapter-testsupport");

const [port, source, line, earlier] = process.argv.slice(2);

async function top(client, event) {
  const stack = await client.stackTraceRequest({ threadId: event.body.threadId, startFrame: 0, levels: 1 });
  return stack.body.stackFrames[0];
}

async function moved(client, request) {
  const [event] = await Promise.all([client.waitForEvent("stopped"), request()]);
  return event;
}

async function main() {
  const client = new DebugClient("node", "", "fozzy");
  await client.start(Number(port));
  const initialized = await client.initializeRequest();
  console.log(`initialized with ${initialized.body.supportsStepBack ? "supportsStepBack" : "nothing"}`);
  const [stopped] = await Promise.all([
    client.waitForEvent("stopped"),
    client.waitForEvent("initialized").then(async () => {
      const breakpoints = [{ line: Number(line) }, { line: Number(earlier), condition: "kind == 2" }];
      await client.setBreakpointsRequest({ source: { path: source }, breakpoints: breakpoints.slice(0, 1) });
      await client.configurationDoneRequest();
    }),
    client.launchRequest({}),
  ]);
  const frame = await top(client, stopped);
  console.log(`stopped: ${stopped.body.reason} at ${frame.name}`);
  if (frame.source.path !== source || frame.line !== Number(line)) throw new Error(JSON.stringify(frame));
  const shape = await client.evaluateRequest({ expression: "shape", frameId: frame.id, context: "hover" });
  console.log(`shape = ${shape.body.result}`);
  await client.setBreakpointsRequest({
    source: { path: source },
    breakpoints: [{ line: Number(earlier), condition: "kind == 2" }],
  });
  const back = await moved(client, () => client.reverseContinueRequest({ threadId: 1 }));
  console.log(`back: ${back.body.reason} at ${(await top(client, back)).name}`);
  const entry = await moved(client, () => client.reverseContinueRequest({ threadId: 1 }));
  console.log(`back: ${entry.body.reason}`);
  await client.setBreakpointsRequest({ source: { path: source }, breakpoints: [] });
  const end = await moved(client, () => client.continueRequest({ threadId: 1 }));
  console.log(`end: ${end.body.reason}`);
  await client.disconnectRequest({});
  await client.stop();
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
