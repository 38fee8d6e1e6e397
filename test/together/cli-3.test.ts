import './part.ts';
