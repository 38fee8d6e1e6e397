import type { TestContext } from 'node:test';

type Work = () => unknown;

const works = new WeakMap<TestContext, Work[]>();

/** As `t.after`, but what was added last runs first: a server ends before the folder that it uses is removed. */
export function atEnd(t: TestContext, work: Work): void {
  const known = works.get(t);
  if (known !== undefined) {
    known.push(work);
    return;
  }
  const all = [work];
  works.set(t, all);
  t.after(async () => {
    for (const each of all.toReversed()) await each();
  });
}
