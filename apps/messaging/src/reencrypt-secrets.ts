import 'reflect-metadata';
import { runReencryption } from '@customer-platform/database';
import { sealedColumns } from './secrets/sealed-columns.js';

process.exitCode = await runReencryption({ module: 'messaging', columns: sealedColumns });
