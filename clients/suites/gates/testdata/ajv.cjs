// Prints the processor time in nanoseconds that JSON.parse and a compiled ajv need
// for one message. Arguments: the folder of ajv, the file of the schema, the file
// of the message.
const fs = require("fs");
const path = require("path");
const [folder, schema, message] = process.argv.slice(2);
const Ajv = require(path.resolve(folder));
const check = new (Ajv.default ?? Ajv)({ strict: false }).compile(JSON.parse(fs.readFileSync(schema, "utf8")));
const text = fs.readFileSync(message, "utf8");

function round(n) {
  const start = process.cpuUsage();
  for (let i = 0; i < n; i++) {
    if (!check(JSON.parse(text))) throw new Error(JSON.stringify(check.errors));
  }
  const { user, system } = process.cpuUsage(start);
  return ((user + system) * 1000) / n;
}

round(20000); // until it is compiled
const rounds = [1, 2, 3, 4, 5].map(() => round(20000)).sort((a, b) => a - b);
console.log(rounds[2]);
