import { temporaryControl } from '../temporary-control.ts';
import { controlContract } from './control-contract.ts';

controlContract((t) => temporaryControl(t));
