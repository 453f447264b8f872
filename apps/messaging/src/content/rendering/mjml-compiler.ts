import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Tenants } from '../../background/organizations/tenants.js';
import { RenderPool } from './render-pool.js';
import { MJML_PROFILE } from './render-profile.js';

/**
 * Compiles MJML to HTML when it is saved, in a process that is started for it and killed at 2 s or 160 MiB: nothing of
 * the compiler is loaded here. Liquid in it stays liquid.
 */
@Injectable()
export class MjmlCompiler implements OnApplicationShutdown {
  private readonly pool: RenderPool;

  constructor(tenants: Tenants) {
    this.pool = new RenderPool(MJML_PROFILE, (organizationId) => tenants.of(organizationId));
  }

  /** @throws RenderFailure `template_invalid` with the line, `render_limit_exceeded` */
  async compile(organizationId: string, mjml: string): Promise<string> {
    return (await this.pool.ask(organizationId, { kind: 'compile_mjml', mjml })).html ?? '';
  }

  onApplicationShutdown(): void {
    this.pool.close();
  }
}
