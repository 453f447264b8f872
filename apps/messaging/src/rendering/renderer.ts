import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { PartSource, RenderScope } from './render-job.js';
import { RenderPool } from './render-pool.js';
import { LIQUID_PROFILE } from './render-profile.js';

/**
 * Renders liquid in processes of its own (messaging.md §4): a template that loops, eats memory or grows without end is
 * stopped by 500 ms, 64 MiB and 512 KiB and fails with `render_limit_exceeded`, while its neighbours are rendered.
 * Organizations take turns. Deterministic: preview and dispatch call the same method and get the same bytes.
 */
@Injectable()
export class Renderer implements OnApplicationShutdown {
  private readonly pool = new RenderPool(LIQUID_PROFILE);

  /** All parts of one message. @throws RenderFailure */
  async render(
    organizationId: string,
    parts: readonly PartSource[],
    scope: RenderScope,
    strict: boolean,
  ): Promise<Record<string, string>> {
    return this.pool.ask(organizationId, { kind: 'render', parts, scope, strict });
  }

  /** Parses without rendering. @throws RenderFailure `template_invalid` with the part at fault */
  async check(organizationId: string, parts: readonly PartSource[]): Promise<void> {
    await this.pool.ask(organizationId, { kind: 'check', parts });
  }

  /** The text part derived from an HTML template; liquid in it stays liquid. @throws RenderFailure */
  async deriveText(organizationId: string, html: string): Promise<string> {
    return (await this.pool.ask(organizationId, { kind: 'derive_text', html })).text ?? '';
  }

  onApplicationShutdown(): void {
    this.pool.close();
  }
}
