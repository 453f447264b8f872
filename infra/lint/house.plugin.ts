import type { Rule } from 'eslint';
import { bannedName } from './banned-name.rule.ts';
import { documentedExport } from './documented-export.rule.ts';
import { explainedDisable } from './explained-disable.rule.ts';
import { fileName } from './file-name.rule.ts';
import { functionSize } from './function-size.rule.ts';
import { heardPromise } from './heard-promise.rule.ts';
import { heardStream } from './heard-stream.rule.ts';
import { noAssertedTime } from './no-asserted-time.rule.ts';
import { noBarrel } from './no-barrel.rule.ts';
import { noComputedPermission } from './no-computed-permission.rule.ts';
import { noEndlessTurns } from './no-endless-turns.rule.ts';
import { noRescannedLock } from './no-rescanned-lock.rule.ts';
import { noSwallowedError } from './no-swallowed-error.rule.ts';
import { registeredWork } from './registered-work.rule.ts';
import { timeAfterLocks } from './time-after-locks.rule.ts';

/** The conventions of this repository that no published rule states. */
export const house = {
  meta: { name: 'house' },
  rules: {
    'banned-name': bannedName,
    'documented-export': documentedExport,
    'explained-disable': explainedDisable,
    'file-name': fileName,
    'function-size': functionSize,
    'heard-promise': heardPromise,
    'heard-stream': heardStream,
    'no-asserted-time': noAssertedTime,
    'no-barrel': noBarrel,
    'no-computed-permission': noComputedPermission,
    'no-endless-turns': noEndlessTurns,
    'no-rescanned-lock': noRescannedLock,
    'no-swallowed-error': noSwallowedError,
    'registered-work': registeredWork,
    'time-after-locks': timeAfterLocks,
  } satisfies Record<string, Rule.RuleModule>,
};
