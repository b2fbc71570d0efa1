// Proves that @confluentinc/schemaregistry works against a registry: its client
// and its serializers for Avro, JSON Schema and Protobuf.
//
//   node confluent.js URL EXCHANGE write   every case, then writes messages
//   node confluent.js URL EXCHANGE read    reads what all clients wrote
import { RestError, SchemaRegistryClient } from '@confluentinc/schemaregistry'

import { read, serdeCases, write } from './confluent-messages.js'
import { contains, equal, Exchange, programArguments, Suite, thrown } from './suite.js'

const userV1 = '{"type":"record","name":"User","namespace":"suite.node","fields":[{"name":"id","type":"long"}]}'
const userV2 = userV1.slice(0, -2) + ',{"name":"mail","type":"string","default":""}]}'
const userBad = userV1.slice(0, -2) + ',{"name":"mail","type":"string"}]}'
const userOdd = '{ "namespace" : "suite.node", "name":"User","type":"record",  "fields":[{"type":"long","name":"id"}]}'
const wrapper = '{"type":"record","name":"Wrapper","namespace":"suite.node","fields":[{"name":"user","type":"User"}]}'
const jsonV1 = '{"type":"object","properties":{"id":{"type":"integer"}},"additionalProperties":false}'
const protoV1 = 'syntax = "proto3";\npackage suite.node;\n\nmessage User {\n  int64 id = 1;\n}\n'

const { url, folder, phase } = programArguments('confluent.js')

// newClient is what a program writes; a new one has empty caches.
function newClient(at = url) {
  return SchemaRegistryClient.newClient({
    baseURLs: [at],
    basicAuthCredentials: { credentialsSource: 'USER_INFO', userInfo: 'user:secret' },
  })
}

async function refused(code, call) {
  const e = await thrown(call)
  if (!(e instanceof RestError)) throw e
  equal('error code', e.errorCode, code)
  return e
}

const avro = (schema, more) => ({ schema, schemaType: 'AVRO', ...more })

async function registryCases(s) {
  const c = newClient()
  const subject = 'node-user-value'
  const first = await c.registerFullResponse(subject, avro(userV1), false)

  await s.run('register', async () => {
    equal('version', first.version, 1)
    equal('GUID', first.guid.length, 36)
    const again = await newClient().registerFullResponse(subject, avro(userOdd), false)
    equal('again', [again.id, again.version, again.guid], [first.id, 1, first.guid])
    equal('normalized elsewhere', await newClient().register('node-user-normal', avro(userOdd), true), first.id)
  })

  await s.run('look up by id and GUID', async () => {
    equal('by id', (await newClient().getBySubjectAndId(subject, first.id)).schema, userV1)
    equal('by id without a subject', (await newClient().getBySubjectAndId('', first.id)).schema, userV1)
    equal('by GUID', (await newClient().getByGuid(first.guid)).schema, userV1)
  })

  await s.run('look up by text, version and latest', async () => {
    const found = await newClient().getIdFullResponse(subject, avro(userOdd), false)
    equal('by text', [found.id, found.version], [first.id, 1])
    equal('version of a text', await newClient().getVersion(subject, avro(userV1), false, false), 1)
    equal('by version', (await newClient().getSchemaMetadata(subject, 1, false)).schema, userV1)
    const latest = await newClient().getLatestSchemaMetadata(subject)
    equal('latest', [latest.version, latest.subject, latest.id], [1, subject, first.id])
  })

  await s.run('a bearer token is let pass', async () => {
    const bearerAuthCredentials = { credentialsSource: 'STATIC_TOKEN', token: 'token', logicalCluster: 'lsrc-1', identityPoolId: 'pool-1' }
    const bearer = SchemaRegistryClient.newClient({ baseURLs: [url], bearerAuthCredentials })
    equal('latest', (await bearer.getLatestSchemaMetadata(subject)).id, first.id)
  })

  await s.run('unknown things have their codes', async () => {
    await refused(40403, c.getBySubjectAndId('', 99999))
    await refused(40401, c.getLatestSchemaMetadata('node-nothing'))
    await refused(40402, c.getSchemaMetadata(subject, 77, false))
    await refused(40403, c.getId(subject, avro('"bytes"'), false))
    await refused(40401, c.getId('node-nothing', avro(userV1), false))
    await refused(40403, c.getByGuid('00000000-0000-0000-0000-000000000000'))
    await refused(42201, c.register('node-invalid', avro('{"type":"record"}'), false))
  })

  await s.run('compatibility', async () => {
    equal('compatible', await c.testSubjectCompatibility(subject, avro(userV2)), true)
    equal('breaking', await c.testSubjectCompatibility(subject, avro(userBad)), false)
    equal('breaking a version', await c.testCompatibility(subject, 1, avro(userBad)), false)
    const e = await refused(409, c.register(subject, avro(userBad), false))
    contains('message', e.message, 'READER_FIELD_MISSING_DEFAULT_VALUE')
  })

  await s.run('second version and lists', async () => {
    equal('version', (await c.registerFullResponse(subject, avro(userV2), false)).version, 2)
    equal('versions', await c.getAllVersions(subject), [1, 2])
    equal('latest', (await newClient().getLatestSchemaMetadata(subject)).version, 2)
    contains('subjects', await c.getAllSubjects(), subject)
  })

  for (const [kind, name, text, bad] of [
    ['JSON', 'node-json', jsonV1, jsonV1.replace('integer', 'string')],
    ['PROTOBUF', 'node-proto', protoV1, protoV1.replace('int64', 'string')],
  ]) {
    await s.run(`register and check ${kind}`, async () => {
      const id = await c.register(name, { schema: text, schemaType: kind }, false)
      const got = await newClient().getBySubjectAndId(name, id)
      equal('schema', [got.schemaType, got.schema], [kind, text])
      equal('breaking', await c.testSubjectCompatibility(name, { schema: bad, schemaType: kind }), false)
      await refused(409, c.register(name, { schema: bad, schemaType: kind }, false))
    })
  }
}

async function governanceCases(s) {
  const c = newClient()

  await s.run('levels', async () => {
    await refused(40408, c.getCompatibility('node-level'))
    equal('set', await c.updateCompatibility('node-level', 'FULL'), 'FULL')
    equal('got', await c.getCompatibility('node-level'), 'FULL')
    const before = await c.getDefaultCompatibility()
    equal('global before', before, 'BACKWARD')
    equal('global', await c.updateDefaultCompatibility('NONE'), 'NONE')
    equal('global got', await c.getDefaultCompatibility(), 'NONE')
    await c.updateDefaultCompatibility(before)
  })

  await s.run('config members', async () => {
    const update = { compatibility: 'NONE', normalize: true, compatibilityGroup: 'major' }
    equal('set', await c.updateConfig('node-config', update), update)
    equal('got', await c.getConfig('node-config'), { compatibilityLevel: 'NONE', normalize: true, compatibilityGroup: 'major' })
  })

  await s.run('references', async () => {
    const references = [{ name: 'suite.node.User', subject: 'node-ref-user', version: 1 }]
    await c.register('node-ref-user', avro(userV1), false)
    const id = await c.register('node-ref-wrapper', avro(wrapper, { references }), false)
    equal('references', (await newClient().getBySubjectAndId('node-ref-wrapper', id)).references, references)
    await refused(42206, c.deleteSubjectVersion('node-ref-user', 1, false))
    await refused(42201, c.register('node-ref-none', avro(wrapper, { references: [{ ...references[0], subject: 'node-nothing' }] }), false))
  })

  await s.run('metadata and rules', async () => {
    const metadata = { properties: { owner: 'payments & co' } }
    const ruleSet = { domainRules: [{ name: 'positiveId', kind: 'CONDITION', mode: 'WRITE', type: 'CEL', expr: 'message.id > 0', disabled: false }] }
    const id = await c.register('node-meta', avro(userV1, { metadata, ruleSet }), false)
    const found = await c.getLatestWithMetadata('node-meta', { owner: 'payments & co' }, false)
    equal('found', [found.id, found.metadata, found.ruleSet], [id, metadata, ruleSet])
    await refused(40403, c.getLatestWithMetadata('node-meta', { owner: 'nobody' }, false))
  })

  await s.run('contexts', async () => {
    await c.register(':.node:user-value', avro(userV1), false)
    const inside = newClient(url + '/contexts/.node')
    equal('subjects', await inside.getAllSubjects(), [':.node:user-value'])
    equal('latest', (await inside.getLatestSchemaMetadata('user-value')).schema, userV1)
  })

  await s.run('subjects with odd names', async () => {
    for (const name of ['node/a b', 'node:ü%2F', 'node+plus']) {
      await c.register(name, avro(userV1), false)
      equal('latest of ' + name, (await newClient().getLatestSchemaMetadata(name)).subject, name)
    }
  })
}

async function deletionCases(s) {
  const c = newClient()
  const subject = 'node-user-value'

  await s.run('delete a version', async () => {
    await refused(40407, c.deleteSubjectVersion(subject, 2, true))
    equal('soft', await c.deleteSubjectVersion(subject, 2, false), 2)
    await refused(40402, newClient().getSchemaMetadata(subject, 2, false))
    equal('hidden', (await newClient().getSchemaMetadata(subject, 2, true)).schema, userV2)
    await refused(40406, c.deleteSubjectVersion(subject, 2, false))
    equal('hard', await c.deleteSubjectVersion(subject, 2, true), 2)
    await refused(40402, newClient().getSchemaMetadata(subject, 2, true))
  })

  await s.run('delete a subject', async () => {
    await refused(40405, c.deleteSubject(subject, true))
    equal('soft', await c.deleteSubject(subject, false), [1])
    await refused(40404, c.deleteSubject(subject, false))
    await refused(40401, c.getAllVersions(subject))
    equal('hard', await c.deleteSubject(subject, true), [1])
    await refused(40401, c.deleteSubject(subject, false))
  })
}

const x = new Exchange(folder)
const s = new Suite('@confluentinc/schemaregistry' + (phase === 'read' ? ' reads' : ''))
if (phase === 'read') {
  await read(s, newClient, x)
} else {
  await registryCases(s)
  await governanceCases(s)
  await deletionCases(s)
  await serdeCases(s, newClient, refused)
  await write(s, newClient, x)
}
s.end()
