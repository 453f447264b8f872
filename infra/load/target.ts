import type { Platform } from '@customer-platform/kit/platform.ts';
import { startAcceptingCore } from './accepting-core.ts';

/** Whom load goes to. */
interface Target {
  target: string;
  name: string;
  processing: boolean;
  stop(): Promise<void>;
}

/** The gateway, core, or a core that processes nothing, as the options say. @throws Error where they do not go together */
export async function chooseTarget(
  platform: Platform,
  root: string,
  values: { readonly target?: string | undefined; readonly processing: string },
): Promise<Target> {
  const processing = values.processing === 'on';
  const name = values.target ?? (processing ? 'gateway' : 'core');
  if (!['gateway', 'core'].includes(name)) throw new Error('--target is gateway or core.');
  if (!['on', 'off'].includes(values.processing)) throw new Error('--processing is on or off.');
  const { core_url: coreUrl, postgres_url: postgresUrl, base_url: baseUrl } = platform;
  if (processing) {
    const target = name === 'core' ? coreUrl : baseUrl;
    if (target === undefined) throw new Error('demo.json names no core_url; start the platform anew.');
    return { target, name, processing, stop: () => Promise.resolve() };
  }
  if (name !== 'core')
    throw new Error('--processing off goes with --target core: nothing is there to be seen.');
  if (coreUrl === undefined || postgresUrl === undefined)
    throw new Error('demo.json names no core_url or postgres_url; start the platform anew.');
  const core = await startAcceptingCore(root, coreUrl, postgresUrl);
  return { target: core.url, name: 'a core that processes nothing', processing, stop: () => core.stop() };
}
