import 'reflect-metadata';
import {
  deadLetters,
  installation,
  kafka,
  migrate,
  runPlatform,
  secrets,
  signingKeys,
} from '@customer-platform/cli';
import { audit } from './audit-log/audit.command.js';
import { erasures } from './operator/erasures.command.js';
import { MARKED_PLACES_ENVIRONMENT, markedPlaces } from './operator/marked-places.js';
import { unreadableRecords } from './operator/set-aside-records.command.js';
import { CORE_MIGRATIONS } from './migrations/core.migrations.js';
import { sealedColumns } from './sealed-columns.js';

process.exitCode = await runPlatform({
  module: 'core',
  commands: [
    migrate(CORE_MIGRATIONS),
    audit,
    deadLetters(async () => (await import('./core.module.js')).CoreModule),
    erasures,
    installation(markedPlaces, MARKED_PLACES_ENVIRONMENT),
    kafka(async () => (await import('./core.module.js')).CoreModule),
    secrets(sealedColumns),
    signingKeys({ purpose: 'member_tokens', lifeMinutes: 15 }),
    unreadableRecords,
  ],
});
