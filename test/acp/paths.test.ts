import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { directoriesOf, Roots } from '../../src/acp/paths.js'

const roots = Roots.of(['/home/u/proj', '/home/u/lib', '/home/u'])

test('ASR-711: cwd is root0 and the additional directories are root1, root2, in order', () => {
  const params = { cwd: '/a', additionalDirectories: ['/b', 7, '/c'] }
  assert.equal(Roots.of(directoriesOf(params)).list, [
    { id: 'root0', path: '/a' },
    { id: 'root1', path: '/b' },
    { id: 'root2', path: '/c' },
  ])
})

test('ASR-711: a path is relative to the first root that is a prefix of it segment by segment, else absolute', () => {
  assert.equal(roots.ref('/home/u/proj/src/a.ts'), { root: 'root0', path: 'src/a.ts' })
  assert.equal(roots.ref('/home/u/lib/b'), { root: 'root1', path: 'b' })
  assert.equal(roots.ref('/home/u/project/a.ts'), { root: 'root2', path: 'project/a.ts' })
  assert.equal(roots.ref('/home/user/a.ts'), { root: null, path: '/home/user/a.ts' })
  assert.equal(roots.ref('/home/u/proj'), { root: 'root0', path: '' })
  assert.equal(Roots.of(['/']).ref('/etc/hosts'), { root: 'root0', path: 'etc/hosts' })
  assert.equal(Roots.of(['C:\\w']).ref('C:\\w\\a\\b.txt'), { root: 'root0', path: 'a\\b.txt' })
})

test('ASR-711: a path that leads out of its root again, or that is not in order, stays as it was received', () => {
  for (const path of ['/home/u/proj/../x', '/srv/./x', 'src/a.ts', '', 'C:\\w\\a']) {
    const ref = Roots.of(['/home/u/proj', '/srv']).ref(path)
    assert.equal(ref, { root: null, path })
  }
})

test('ASR-711, ASR-729: every path comes back from its reference as it was', () => {
  const bases = ['/', '/home/u/proj', '/home/u/proj/', 'C:\\w', 'D:', '']
  const paths = ['/home/u/proj/a/b', '/home/u/proj', '/home/u/proj/', '/x//y', 'C:\\w\\a', 'D:\\q', 'rel/p', '/', '']
  for (const base of bases) {
    for (const path of paths) {
      const one = Roots.of([base])
      assert.is(one.absolute(one.ref(path)), path, `${path} below ${base}`)
    }
  }
})

test('ASR-729: below a redacted root, or one that is not there, no absolute path is known', () => {
  const redacted = Roots.from({ roots: [{ id: 'root0', path: null }] })
  assert.is(redacted.absolute({ root: 'root0', path: 'a' }), undefined)
  assert.is(redacted.absolute({ root: 'root9', path: 'a' }), undefined)
  assert.is(redacted.absolute({ root: null, path: '/a' }), '/a')
  assert.equal(redacted.ref('/a'), { root: null, path: '/a' })
})

test('M15: further directories become further roots, and the ids that were given stay', () => {
  const more = roots.with(['/home/u/lib', '/new'])
  assert.equal(more.list.slice(0, 3), roots.list)
  assert.equal(more.list.slice(3), [{ id: 'root3', path: '/new' }])
  assert.is(roots.with(['/home/u']), roots)
})

test.run()
