import { openSqliteTables } from '../urls/tables.ts';
import { rebuildSuite } from './contract/rebuild.ts';

rebuildSuite(openSqliteTables);
