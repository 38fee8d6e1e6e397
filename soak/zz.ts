import { moveSoak } from './move.ts';

console.log(
  JSON.stringify(
    await moveSoak(Number(process.argv[2]), Number(process.argv[3]), (t) => console.error(new Date().toISOString(), t)),
    null,
    1,
  ).slice(0, 2000),
);
