import { useTls } from '../transport.ts';

useTls();
await import('../close.test.ts');
