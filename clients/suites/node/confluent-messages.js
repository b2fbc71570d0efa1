// The serializers of @confluentinc/schemaregistry: own round trips, and the
// messages that all clients exchange.
import { create, createFileRegistry, createMutableRegistry, fromBinary, fromJson, toJson } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import {
  AvroDeserializer,
  AvroSerializer,
  HeaderSchemaIdSerializer,
  JsonDeserializer,
  JsonSerializer,
  ProtobufDeserializer,
  ProtobufSerializer,
  SerdeType,
} from '@confluentinc/schemaregistry'

import { contains, equal, shared, thrown } from './suite.js'

const header = '__value_schema_id'
const order = { id: 7, buyer: 'Grace', tags: ['a', 'b'], note: 'paid' }

const conf = (framing, more) => ({ ...(framing === 'header' && { schemaIdSerializer: HeaderSchemaIdSerializer }), ...more })
const known = { autoRegisterSchemas: false, useLatestVersion: true }

// orderFile is the file that generated code would hold.
function orderFile() {
  const proto = fromBinary(FileDescriptorProtoSchema, Buffer.from(shared('order.proto.b64'), 'base64'))
  return createFileRegistry(named(proto), () => undefined)
}

// named fills in the JSON names, as generated code does when it is loaded; this
// client sends them to the registry.
function named(proto) {
  const walk = (message) => {
    for (const f of message.field) f.jsonName = f.name
    message.nestedType.forEach(walk)
  }
  proto.messageType.forEach(walk)
  return proto
}

function messages(files) {
  return createMutableRegistry(...[...files].filter((t) => t.kind === 'message'))
}

// framed checks where the id is, and answers the header that a message carries.
function framed(framing, headers, value) {
  if (framing === 'prefix') {
    equal('headers', Object.keys(headers), [])
    equal('magic byte', value[0], 0)
    return undefined
  }
  equal('headers', Object.keys(headers), [header])
  equal("header's first byte", headers[header][0], 1)
  return headers[header]
}

export async function serdeCases(s, newClient, refused) {
  const avsc = shared('order.avsc').trim()
  const schema = shared('order.schema.json').trim()
  for (const framing of ['prefix', 'header']) {
    await s.run(`Avro, ${framing}`, async () => {
      const topic = `node-avro-${framing}`
      const headers = {}
      await newClient().register(topic + '-value', { schema: avsc, schemaType: 'AVRO' }, false)
      const value = await new AvroSerializer(newClient(), SerdeType.VALUE, conf(framing, known)).serialize(topic, order, headers)
      framed(framing, headers, value)
      equal('value', { ...(await new AvroDeserializer(newClient(), SerdeType.VALUE, {}).deserialize(topic, value, headers)) }, order)
    })
    await s.run(`JSON Schema, ${framing}`, async () => {
      const topic = `node-json-${framing}`
      const headers = {}
      await newClient().register(topic + '-value', { schema, schemaType: 'JSON' }, false)
      const serializer = new JsonSerializer(newClient(), SerdeType.VALUE, conf(framing, { ...known, validate: true }))
      const value = await serializer.serialize(topic, order, headers)
      framed(framing, headers, value)
      equal('value', await new JsonDeserializer(newClient(), SerdeType.VALUE, { validate: true }).deserialize(topic, value, headers), order)
      contains('refused payload', (await thrown(serializer.serialize(topic, { ...order, id: 'seven' }, {}))).message, 'nvalid')
    })
    await s.run(`Protobuf, ${framing}`, async () => {
      const topic = `node-proto-${framing}`
      const headers = {}
      const registry = messages(orderFile())
      const type = registry.getMessage('example.exchange.Order')
      const message = create(type, { id: 7n, buyer: 'Grace', tags: ['a'], line: { sku: 'A-1', count: 3 } })
      const value = await new ProtobufSerializer(newClient(), SerdeType.VALUE, conf(framing, { autoRegisterSchemas: true, registry })).serialize(topic, message, headers)
      framed(framing, headers, value)
      const back = await new ProtobufDeserializer(newClient(), SerdeType.VALUE, {}).deserialize(topic, value, headers)
      equal('value', toJson(type, back), toJson(type, message))
    })
  }
  await s.run('Avro, registered by the serializer', async () => {
    const serializer = new AvroSerializer(newClient(), SerdeType.VALUE, { autoRegisterSchemas: true })
    const value = await serializer.serialize('node-avro-auto', { name: 'x', count: 1 })
    equal('value', { ...(await new AvroDeserializer(newClient(), SerdeType.VALUE, {}).deserialize('node-avro-auto', value)) }, { name: 'x', count: 1 })
  })
  await s.run('Protobuf with an import', async () => imported(newClient))
  await s.run('Avro with a reference', async () => {
    const c = newClient()
    const user = '{"type":"record","name":"User","namespace":"suite.node","fields":[{"name":"id","type":"long"}]}'
    const wrapper = '{"type":"record","name":"Wrapper","namespace":"suite.node","fields":[{"name":"user","type":"User"}]}'
    await c.register('node-serde-user', { schema: user, schemaType: 'AVRO' }, false)
    const references = [{ name: 'suite.node.User', subject: 'node-serde-user', version: 1 }]
    await c.register('node-wrapper-value', { schema: wrapper, schemaType: 'AVRO', references }, false)
    const value = await new AvroSerializer(newClient(), SerdeType.VALUE, known).serialize('node-wrapper', { user: { id: 7 } })
    const back = await new AvroDeserializer(newClient(), SerdeType.VALUE, {}).deserialize('node-wrapper', value)
    equal('value', JSON.parse(JSON.stringify(back)), { user: { id: 7 } })
  })
  await s.run('JSON Schema with a reference', async () => {
    const c = newClient()
    await c.register('node-serde-id', { schema: '{"$id":"http://example.com/id.json","type":"integer"}', schemaType: 'JSON' }, false)
    const references = [{ name: 'http://example.com/id.json', subject: 'node-serde-id', version: 1 }]
    const holder = '{"$id":"http://example.com/holder.json","type":"object","properties":{"id":{"$ref":"http://example.com/id.json"}}}'
    await c.register('node-holder-value', { schema: holder, schemaType: 'JSON', references }, false)
    const serializer = new JsonSerializer(newClient(), SerdeType.VALUE, { ...known, validate: true })
    const value = await serializer.serialize('node-holder', { id: 7 })
    equal('value', await new JsonDeserializer(newClient(), SerdeType.VALUE, { validate: true }).deserialize('node-holder', value), { id: 7 })
    contains('refused payload', (await thrown(serializer.serialize('node-holder', { id: 'seven' }))).message, 'nvalid')
  })
  await s.run('registration switched off refuses an unknown schema', async () => {
    const serializer = new AvroSerializer(newClient(), SerdeType.VALUE, { autoRegisterSchemas: false })
    await refused(40401, serializer.serialize('node-off', order))
  })
  await s.run('latest version', async () => {
    const c = newClient()
    const wider = JSON.parse(avsc)
    wider.fields.push({ name: 'total', type: 'long', default: 0 })
    await c.register('node-latest-value', { schema: avsc, schemaType: 'AVRO' }, false)
    const id = await c.register('node-latest-value', { schema: JSON.stringify(wider), schemaType: 'AVRO' }, false)
    const value = await new AvroSerializer(newClient(), SerdeType.VALUE, known).serialize('node-latest', { ...order, total: 9 })
    equal('id', value.readUInt32BE(1), id)
  })
  await s.run('a message of an unknown id is not read', async () => {
    await refused(40403, new AvroDeserializer(newClient(), SerdeType.VALUE, {}).deserialize('node-avro-prefix', Buffer.from([0, 0, 1, 0x86, 0xa1, 2])))
  })
}

// imported writes a message whose file imports another: the serializer
// registers the import under a subject of its own and refers to it.
async function imported(newClient) {
  const file = (json) => named(fromJson(FileDescriptorProtoSchema, { package: 'suite.node', syntax: 'proto3', ...json }))
  const money = file({ name: 'node/money.proto', messageType: [{ name: 'Money', field: [{ name: 'cents', number: 1, label: 'LABEL_OPTIONAL', type: 'TYPE_INT64' }] }] })
  const bill = file({
    name: 'node/bill.proto',
    dependency: ['node/money.proto'],
    messageType: [{ name: 'Bill', field: [{ name: 'total', number: 1, label: 'LABEL_OPTIONAL', type: 'TYPE_MESSAGE', typeName: '.suite.node.Money' }] }],
  })
  const registry = messages(createFileRegistry(bill, (name) => (name === 'node/money.proto' ? money : undefined)))
  const type = registry.getMessage('suite.node.Bill')
  const value = await new ProtobufSerializer(newClient(), SerdeType.VALUE, { autoRegisterSchemas: true, registry }).serialize('node-bill', create(type, { total: { cents: 1250n } }))
  const back = await new ProtobufDeserializer(newClient(), SerdeType.VALUE, {}).deserialize('node-bill', value)
  equal('value', toJson(type, back), { total: { cents: '1250' } })
  const latest = await newClient().getLatestSchemaMetadata('node-bill-value')
  equal('references', latest.references, [{ name: 'node/money.proto', subject: 'node/money.proto', version: 1 }])
}

export async function write(s, newClient, x) {
  const put = async (format, name, framing, serializer, value) => {
    const headers = {}
    const encoded = await serializer.serialize(`exchange-${format}`, value, headers)
    x.put('confluent-kafka-javascript', format, name, framing, encoded, framed(framing, headers, encoded))
  }
  for (const framing of ['prefix', 'header']) {
    await s.run(`write Avro, ${framing}`, async () => {
      await newClient().register('exchange-avro-value', { schema: shared('order.avsc').trim(), schemaType: 'AVRO' }, false)
      const name = 'example.exchange.Order'
      await put('avro', name, framing, new AvroSerializer(newClient(), SerdeType.VALUE, conf(framing, known)), x.values.avro[name])
    })
    await s.run(`write JSON, ${framing}`, async () => {
      await newClient().register('exchange-json-value', { schema: shared('order.schema.json').trim(), schemaType: 'JSON' }, false)
      await put('json', 'Order', framing, new JsonSerializer(newClient(), SerdeType.VALUE, conf(framing, { ...known, validate: true })), x.values.json.Order)
    })
    for (const [name, value] of Object.entries(x.values.protobuf)) {
      await s.run(`write Protobuf ${name}, ${framing}`, async () => {
        const registry = messages(orderFile())
        for (const nested of registry.getMessage('example.exchange.Order').nestedMessages) registry.add(nested)
        const serializer = new ProtobufSerializer(newClient(), SerdeType.VALUE, conf(framing, { autoRegisterSchemas: true, normalizeSchemas: true, registry }))
        await put('protobuf', name, framing, serializer, fromJson(registry.getMessage(name), value))
      })
    }
  }
}

export async function read(s, newClient, x) {
  const found = x.messages()
  await s.run('there is something to read', async () => equal('messages', found.length > 0, true))
  const registry = messages(orderFile())
  for (const m of found) {
    await s.run('read ' + m.file, async () => {
      const headers = m.header ? { [header]: m.header } : {}
      const topic = `exchange-${m.format}`
      const want = x.values[m.format][m.message]
      if (m.format === 'avro') {
        equal('value', { ...(await new AvroDeserializer(newClient(), SerdeType.VALUE, {}).deserialize(topic, m.value, headers)) }, want)
      } else if (m.format === 'json') {
        equal('value', await new JsonDeserializer(newClient(), SerdeType.VALUE, { validate: true }).deserialize(topic, m.value, headers), want)
      } else {
        const got = await new ProtobufDeserializer(newClient(), SerdeType.VALUE, {}).deserialize(topic, m.value, headers)
        const type = registry.getMessage(got.$typeName) ?? registry.getMessage('example.exchange.Order').nestedMessages.find((n) => n.typeName === got.$typeName)
        equal('message', got.$typeName, m.message)
        equal('value', toJson(type, got), toJson(type, fromJson(type, want)))
        equal('members', Object.keys(toJson(type, got)).sort(), Object.keys(want).sort())
      }
    })
  }
}
