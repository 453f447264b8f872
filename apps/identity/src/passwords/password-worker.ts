import { argon2Sync, type Argon2Parameters } from 'node:crypto';
import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';

/**
 * A thread that derives argon2id tags, one after the other, and gives way to all else. Linux sets the priority of the
 * thread that asks; elsewhere it would be the whole process's.
 */
if (process.platform === 'linux') {
  try {
    setPriority(constants.priority.PRIORITY_LOW);
  } catch (error) {
    // A sandbox may forbid it; that there are few threads bounds what they take all the same.
    process.emitWarning(`The threads that hash passwords have no low priority: ${String(error)}`);
  }
}

parentPort?.on('message', (parameters: Argon2Parameters) => {
  parentPort?.postMessage(argon2Sync('argon2id', parameters));
});
