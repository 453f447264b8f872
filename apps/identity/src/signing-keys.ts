import 'reflect-metadata';
import { runSigningKeys } from '@customer-platform/database';
import { ACCESS_TOKENS } from './sessions/access-token.issuing.js';

process.exitCode = await runSigningKeys({ module: 'identity', purpose: ACCESS_TOKENS, lifeMinutes: 5 });
