/**
 * Which folders may become a store, and what a refusal says of the others.
 */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openStore } from '../../src/main.js'
import { fails } from '../support/fails.js'
import { header } from '../support/records.js'
import { tempFolder } from '../support/temp.js'

const OF_NOBODY = [
  '.DS_Store',
  '.gitignore',
  '.gitkeep',
  '.directory',
  'Thumbs.db',
  'desktop.ini',
  '._x',
  '.nfs0001',
  '@eaDir',
]

test('a folder with only what file systems and desktops leave is empty for a new store', async () => {
  const all = tempFolder()
  mkdirSync(join(all, 'lost+found'))
  for (const name of OF_NOBODY) {
    const folder = tempFolder()
    for (const place of [folder, all]) writeFileSync(join(place, name), '')
    const store = await openStore(folder)
    await store.close()
    assert.ok(readdirSync(folder).includes(name), 'it stays')
  }
  const store = await openStore(all)
  await store.createStream(header('s'))
  await store.close()
  const again = await openStore(all, { create: false })
  assert.is((await again.stream('s')).length, 0)
  await again.close()
})

test('a reader, and an opener that may not create, find no store there', async () => {
  const folder = tempFolder()
  mkdirSync(join(folder, 'lost+found'))
  for (const options of [{ readOnly: true }, { create: false }]) {
    assert.match((await fails('ASR_FORMAT', () => openStore(folder, options))).message, 'there is no store')
  }
  assert.equal(readdirSync(folder), ['lost+found'])
})

test('a folder that holds something else is refused, and the refusal names it', async () => {
  for (const names of [['notes.txt'], ['.gitignore', 'src'], ['a', 'b', 'c'], ['streams', 'thesis.doc']]) {
    const folder = tempFolder()
    for (const name of names) writeFileSync(join(folder, name), '')
    const { message } = await fails('ASR_FORMAT', () => openStore(folder))
    for (const name of names.filter((one) => one !== '.gitignore' && one !== 'streams'))
      assert.match(message, JSON.stringify(name))
    assert.not.match(message, '.gitignore')
    assert.equal(readdirSync(folder).sort(), [...names].sort(), 'nothing is made')
  }
  const crowded = tempFolder()
  for (let n = 0; n < 10; n++) writeFileSync(join(crowded, `file${n}\u001b`), '')
  const { message } = await fails('ASR_FORMAT', () => openStore(crowded))
  assert.match(message, 'and 7 more')
  assert.not.match(message, '\u001b')
})

test.run()
