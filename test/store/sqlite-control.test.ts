import { temporaryControl } from '../temporary-control.ts';
import { controlContract } from './contract/control.ts';

controlContract((t) => temporaryControl(t));
