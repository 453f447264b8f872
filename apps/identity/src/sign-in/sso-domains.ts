import { Injectable } from '@nestjs/common';
import { SsoSignIn, type SsoWayIn } from '../sso-connections/sso-sign-in.js';
import type { BrowserBinding } from './browser-binding.js';
import type { Asked } from './sign-in-progress.js';

/** Which addresses belong to a provider of their organization's own. */
@Injectable()
export class SsoDomains {
  constructor(private readonly sso: SsoSignIn) {}

  async forEmail(email: string): Promise<SsoWayIn | undefined> {
    return this.sso.forEmail(email);
  }

  /** Where this browser goes; it comes back to the connection’s redirect URI. @throws SsoRefusal */
  async begin(asked: Asked, connectionId: string, browser: BrowserBinding, email: string): Promise<string> {
    const { href } = await this.sso.begin(asked, connectionId, {
      browserHash: browser.hash,
      loginHint: email,
    });
    return href;
  }

  /** Whether the user may not sign in by a password. */
  async refusesPasswordOf(user: { readonly userId: string; readonly email: string }): Promise<boolean> {
    return !(await this.sso.allowsPassword(user));
  }
}
