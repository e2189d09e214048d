/** Reading TypeScript as text, as far as the project's own checks need it. */

const REGEXP_BEFORE = /(?:^|[(,=:[!&|?{};]|=>|\breturn|\n)\s*$/
const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//g

/** The text with comments, strings and regular expressions emptied; lines stay where they are. */
export function bareCode(text) {
  return text.replace(TOKEN, (token, at) => {
    if (/^\/[^/*]/.test(token) && !REGEXP_BEFORE.test(text.slice(Math.max(0, at - 40), at))) return token
    return token.replace(/[^\n]+/g, ' ')
  })
}

const STATIC_IMPORT = /(?:^|\n)\s*(?:import|export)(\s+type)?\s(?:[^'"`]*?\sfrom\s*)?['"]([^'"\n]+)['"]/g
const CALLED_IMPORT = /(\btypeof\s+)?\bimport\(\s*['"]([^'"\n]+)['"]/g

/** What a module imports and exports from, as `{ name, typeOnly }`; of `typeOnly` ones nothing is left when it runs. */
export function importsOf(text) {
  return [...text.matchAll(STATIC_IMPORT), ...text.matchAll(CALLED_IMPORT)].map(([, type, name]) => {
    return { name, typeOnly: type !== undefined }
  })
}
