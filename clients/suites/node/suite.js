// Counts the cases of one client: a case that fails is named with its reason,
// and the last line of the program has both counts.
import { deepStrictEqual } from 'node:assert'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export class Suite {
  constructor(name) {
    this.name = name
    this.passed = 0
    this.failed = 0
  }

  // run is one case: what it throws is its failure.
  async run(name, body) {
    try {
      await body()
      this.passed++
    } catch (e) {
      this.failed++
      console.log(`FAIL ${this.name}: ${name}: ${e.message.replace(/\n\s*/g, ' ')}`)
    }
  }

  end() {
    console.log(`${this.name}: ${this.passed} passed, ${this.failed} failed`)
    process.exit(this.failed || !this.passed ? 1 : 0)
  }
}

export function equal(what, got, want) {
  try {
    deepStrictEqual(got, want)
  } catch {
    throw new Error(`${what}: got ${show(got)}, want ${show(want)}`)
  }
}

export function contains(what, got, part) {
  if (!got.includes(part)) throw new Error(`${what}: ${show(part)} is not in ${show(got)}`)
}

function show(v) {
  return JSON.stringify(v, (_, x) => (typeof x === 'bigint' ? `${x}n` : x))
}

// thrown answers the error of a call that must fail.
export async function thrown(call) {
  let got
  try {
    got = await call
  } catch (e) {
    return e
  }
  throw new Error(`got ${show(got)}, want an error`)
}

export function programArguments(name) {
  const [url, folder, phase, extra] = process.argv.slice(2)
  if (phase !== 'write' && phase !== 'read') {
    console.error(`usage: ${name} URL EXCHANGE write|read`)
    process.exit(64)
  }
  return { url, folder, phase, extra }
}

// Exchange is the folder of messages; see ../exchange/README.md.
export class Exchange {
  constructor(folder) {
    this.folder = folder
    this.values = JSON.parse(shared('values.json'))
  }

  put(client, format, message, framing, value, header) {
    const m = { client, format, message, framing, value: value.toString('base64') }
    if (header) m.header = header.toString('base64')
    writeFileSync(join(this.folder, `${client}.${format}.${message}.${framing}.json`), JSON.stringify(m))
  }

  messages() {
    return readdirSync(this.folder)
      .sort()
      .map((file) => {
        const m = JSON.parse(readFileSync(join(this.folder, file), 'utf8'))
        return { ...m, file, value: Buffer.from(m.value, 'base64'), header: m.header && Buffer.from(m.header, 'base64') }
      })
  }
}

export function shared(name) {
  return readFileSync(join(process.env.CARTORIO_SUITES ?? '..', 'exchange', name), 'utf8')
}
