/** For text that is kept: V8 stores a concatenation as a tree of its parts, and would walk the tree at every use. */
export const flatText = (text: string): string => Buffer.from(text).toString();
