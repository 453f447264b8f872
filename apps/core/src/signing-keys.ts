import 'reflect-metadata';
import { runSigningKeys } from '@customer-platform/database';

process.exitCode = await runSigningKeys({ module: 'core', purpose: 'member_tokens', lifeMinutes: 15 });
