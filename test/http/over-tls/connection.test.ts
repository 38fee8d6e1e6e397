import { useTls } from '../transport.ts';

useTls();
await import('../connection.test.ts');
