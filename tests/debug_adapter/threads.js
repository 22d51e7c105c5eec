// A client by Microsoft's own test support that looks at every thread where the run stands at two seconds: a line each.
const { DebugClient } = require("@vscode/debugadapter-testsupport");

const [port] = process.argv.slice(2);

async function main() {
  const client = new DebugClient("node", "", "fozzy");
  await client.start(Number(port));
  await client.initializeRequest();
  await Promise.all([
    client.waitForEvent("stopped"),
    client.waitForEvent("initialized").then(() => client.configurationDoneRequest()),
    client.launchRequest({ stopOnEntry: true }),
  ]);
  await Promise.all([client.waitForEvent("stopped"), client.customRequest("fozzyGoTo", { timeNs: 2000000000 })]);
  const threads = (await client.threadsRequest()).body.threads;
  for (const thread of threads) {
    const frames = (await client.stackTraceRequest({ threadId: thread.id })).body.stackFrames;
    const values = [];
    if (frames.length > 0) {
      const scopes = (await client.scopesRequest({ frameId: frames[0].id })).body.scopes;
      const { variablesReference } = scopes.find((scope) => scope.name === "WebAssembly");
      const variables = (await client.variablesRequest({ variablesReference })).body.variables;
      const locals = variables.filter((variable) => variable.name.startsWith("local"));
      values.push(...locals.map((variable) => `${variable.name} = ${variable.value}`));
    }
    console.log(`${thread.name}: ${frames.map((frame) => frame.name).join(", ")}; ${values.join(", ")}`);
  }
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
