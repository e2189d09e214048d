/** What is used of fflate, in a module of its own: a bundler leaves out the rest, although this is loaded only where there is no zlib. */
export { deflateSync, inflateSync } from 'fflate'
