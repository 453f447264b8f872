import 'reflect-metadata';
import { runReencryption } from '@customer-platform/database';
import { sealedColumns } from './sealed-columns.js';

process.exitCode = await runReencryption({ module: 'core', columns: sealedColumns });
