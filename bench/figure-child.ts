/**
 * Measures one figure in a process of its own, and sends its rows to the process that started it.
 */
import { argv } from 'node:process'
import type { Context } from './figure.js'
import { FIGURES } from './figures.js'

const [name, context] = argv.slice(2)
const rows = await FIGURES[name](JSON.parse(context) as Context)
process.send?.(rows)
process.disconnect?.()
