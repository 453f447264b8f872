import { claim } from '@customer-platform/kit/presence.mjs';
import type { DataFolder } from './data-folder.ts';

/**
 * Takes the folder for this process; two platforms on one folder would destroy it.
 * @returns what gives it back.
 * @throws Error of one sentence while another start has it.
 */
export async function takeFolder(data: DataFolder): Promise<() => void> {
  const file = data.file('supervisor.pid');
  const { release, holder } = await claim(file, 'npm start');
  if (release) return release;
  const { pid, answers } = holder;
  throw new Error(
    answers
      ? `The platform is running already (process ${pid}, ${data.path}): use it, or stop it first with Ctrl-C or "kill ${pid}".`
      : `Process ${pid} seems to run the platform in ${data.path} and does not answer: end it, or remove ${file} if it is another program.`,
  );
}
