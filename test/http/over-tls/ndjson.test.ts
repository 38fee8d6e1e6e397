import { useTls } from '../transport.ts';

useTls();
await import('../ndjson.test.ts');
