// Proves that @kafkajs/confluent-schema-registry works against a registry. It
// asks for the subject's own level before it registers, and sets it if there is
// none. It has no header form and writes no message indexes, so its Protobuf is
// read by itself alone.
//
//   node kafkajs.js URL EXCHANGE write|read [PACKAGE]
import { contains, equal, Exchange, programArguments, shared, Suite, thrown } from './suite.js'

const { url, folder, phase, extra } = programArguments('kafkajs.js')
const packageName = extra ?? '@kafkajs/confluent-schema-registry'
const { SchemaRegistry, SchemaType, COMPATIBILITY } = await import(packageName)
const { version } = JSON.parse((await import('node:fs')).readFileSync(`node_modules/${packageName}/package.json`, 'utf8'))
const major = version.split('.')[0]
const client = `kafkajs-${major}`

// newClient is what a program writes; a new one has empty caches.
function newClient() {
  return new SchemaRegistry({ host: url, auth: { username: 'user', password: 'secret' }, retry: { retries: 0 } })
}

const userV1 = { type: 'record', name: 'User', namespace: `suite.kafkajs${major}`, fields: [{ name: 'id', type: 'long' }] }
const userV2 = { ...userV1, fields: [...userV1.fields, { name: 'mail', type: 'string', default: '' }] }
const userBad = { ...userV1, fields: [...userV1.fields, { name: 'mail', type: 'string' }] }
const avro = (schema, more) => ({ type: SchemaType.AVRO, schema: JSON.stringify(schema), ...more })

const level = async (subject) => (await fetch(`${url}/config/${subject}`)).json()

async function refused(status, call) {
  const e = await thrown(call)
  equal('HTTP status', e.status, status)
  return e
}

async function cases(s) {
  const subject = `${client}-user-value`
  const c = newClient()
  const { id } = await c.register(avro(userV1), { subject, compatibility: COMPATIBILITY.FULL })

  await s.run('register sets the level where there is none', async () => {
    equal('level', await level(subject), { compatibilityLevel: 'FULL' })
    equal('again', (await newClient().register(avro(userV1), { subject, compatibility: COMPATIBILITY.FULL })).id, id)
    contains('another level', (await thrown(newClient().register(avro(userV1), { subject }))).message, 'Compatibility does not match')
  })

  await s.run('register under the name of the record', async () => {
    equal('id', (await newClient().register(avro(userV1))).id, id)
    equal('level', await level(`suite.kafkajs${major}.User`), { compatibilityLevel: 'BACKWARD' })
  })

  await s.run('look up', async () => {
    equal('by version', await newClient().getRegistryId(subject, 1), id)
    equal('latest', await newClient().getLatestSchemaId(subject), id)
    equal('by text', await newClient().getRegistryIdBySchema(subject, avro(userV1)), id)
    const got = await newClient().getSchema(id)
    equal('type', got.name ?? got.type?.name, `suite.kafkajs${major}.User`)
  })

  await s.run('unknown things are not found', async () => {
    await refused(404, newClient().getSchema(99999))
    await refused(404, newClient().getLatestSchemaId(`${client}-nothing`))
    await refused(404, newClient().getRegistryId(subject, 77))
    contains('unknown text', (await thrown(newClient().getRegistryIdBySchema(subject, avro(userBad)))).message, 'not found')
  })

  await s.run('breaking registration is refused', async () => {
    const other = `${client}-strict-value`
    await newClient().register(avro(userV1), { subject: other })
    const e = await refused(409, newClient().register(avro(userBad), { subject: other }))
    contains('message', e.message, 'READER_FIELD_MISSING_DEFAULT_VALUE')
    equal('compatible', (await newClient().register(avro(userV2), { subject: other })).id > 0, true)
  })

  await s.run('Avro round trip', async () => {
    const value = await c.encode(id, { id: 7 })
    equal('value', { ...(await newClient().decode(value)) }, { id: 7 })
  })

  await s.run('JSON Schema round trip, and a payload that its schema refuses', async () => {
    const { id } = await c.register({ type: SchemaType.JSON, schema: shared('order.schema.json') }, { subject: `${client}-json-value` })
    const value = await c.encode(id, { id: 7, buyer: 'Grace' })
    equal('value', await newClient().decode(value), { id: 7, buyer: 'Grace' })
    equal('refused', (await thrown(c.encode(id, { id: 'seven', buyer: 'Grace' }))).paths, [['/id']])
  })

  await s.run('Protobuf round trip', async () => {
    const { id } = await c.register({ type: SchemaType.PROTOBUF, schema: shared('order.proto') }, { subject: `${client}-proto-value` })
    const value = await c.encode(id, { source: 'suite' })
    equal('value', { ...(await newClient().decode(value)) }, { source: 'suite' })
  })

  await s.run('references', async () => {
    const wrapper = { type: 'record', name: 'Wrapper', namespace: userV1.namespace, fields: [{ name: 'user', type: 'User' }] }
    await newClient().register(avro(userV1), { subject: `${client}-ref-user` })
    const references = [{ name: `${userV1.namespace}.User`, subject: `${client}-ref-user`, version: 1 }]
    const { id } = await newClient().register(avro(wrapper, { references }), { subject: `${client}-ref-wrapper` })
    const value = await newClient().encode(id, { user: { id: 7 } })
    equal('value', JSON.parse(JSON.stringify(await newClient().decode(value))), { user: { id: 7 } })
  })
}

async function write(s, x) {
  const c = newClient()
  for (const [format, name, schema] of [
    ['avro', 'example.exchange.Order', { type: SchemaType.AVRO, schema: shared('order.avsc') }],
    ['json', 'Order', { type: SchemaType.JSON, schema: shared('order.schema.json') }],
  ]) {
    await s.run('write ' + format, async () => {
      const { id } = await c.register(schema, { subject: `exchange-${format}-value` })
      x.put(client, format, name, 'prefix', await c.encode(id, x.values[format][name]))
    })
  }
}

// What it can read: values with a prefix; of Protobuf the first message, whose
// index it takes for padding.
const readable = (m) => m.framing === 'prefix' && (m.format !== 'protobuf' || m.message === 'example.exchange.Envelope')

async function read(s, x) {
  const found = x.messages().filter(readable)
  await s.run('there is something to read', async () => equal('messages', found.length > 0, true))
  for (const m of found) {
    await s.run('read ' + m.file, async () => {
      equal('value', JSON.parse(JSON.stringify(await newClient().decode(m.value))), x.values[m.format][m.message])
    })
  }
}

const x = new Exchange(folder)
const s = new Suite(`@kafkajs/confluent-schema-registry ${version}` + (phase === 'read' ? ' reads' : ''))
if (phase === 'read') {
  await read(s, x)
} else {
  await cases(s)
  await write(s, x)
}
s.end()
