// The bundler adds these to every file with JSX. Calls of `h` are shorter than those of the automatic runtime.
export { Fragment, h } from 'preact';
