import { test } from 'uvu'
import { logPlaceConformance } from '../../src/conformance/main.js'
import { MemoryPlace } from '../../src/main.js'
import { addCases } from './support.js'

addCases(test, logPlaceConformance({ make: () => new MemoryPlace() }))

test.run()
