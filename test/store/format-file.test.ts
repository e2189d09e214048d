import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { hashText, hex64 } from '../../src/base/hash.js'
import { formatLine, parseFormatLine } from '../../src/store/node/format-file.js'
import { flipped } from '../log/handmade.js'
import { fails } from '../support/fails.js'

const ID = '00112233445566778899aabbccddeeff'
const LINE = formatLine(ID)

test('the line is as spec/log-format.md says, and gives the store id back', () => {
  const [name, version, id, check, ...rest] = LINE.trimEnd().split(' ')
  assert.equal([name, version, id, rest, LINE.endsWith('\n')], ['asr-store', '1', ID, [], true])
  assert.is(check, hex64(hashText(`asr-store 1 ${ID}`)))
  assert.is(parseFormatLine(LINE), ID)
})

test('a line with any bit turned over, or cut short, gives no store id', () => {
  const bytes = new TextEncoder().encode(LINE)
  const version = LINE.indexOf('1')
  for (let at = 0; at < bytes.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const line = new TextDecoder('latin1').decode(flipped(bytes, at, bit))
      // Another digit there is another version, which nobody may take for damage.
      if (at === version && /[0-9]/.test(line[at])) assert.throws(() => parseFormatLine(line))
      else assert.is(parseFormatLine(line), undefined, `${at}, ${bit}`)
    }
  }
  for (let size = 0; size < LINE.length; size++) assert.is(parseFormatLine(LINE.slice(0, size)), undefined)
})

test('a line of another version is refused, naming both, however it goes on', async () => {
  const line = `asr-store 12 ${ID}`
  const error = await fails('ASR_FORMAT', () => parseFormatLine(`${line} ${hex64(hashText(line))}\n`))
  assert.match(error.message, /12.*1/)
  await fails('ASR_FORMAT', () => parseFormatLine('asr-store 2 with more to say\n'))
})

test.run()
