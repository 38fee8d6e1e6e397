import { useTls } from '../transport.ts';

// In a process of its own: from now on, its servers and clients use TLS.
useTls();
await import('../close.test.ts');
