import { Injectable } from '@nestjs/common';
import { Problem } from '@customer-platform/problem-json';
import { whyBlocked } from './password-blocklist.js';

/** Says which passwords are set; no rule says of which characters. */
@Injectable()
export class PasswordRules {
  /**
   * Demands a password that is not among the first that would be tried.
   * @param words what is known of the person: name, address, organization
   * @throws Problem `validation_failed` at `/password`, without the password
   */
  async demandUncommon(password: string, words: readonly string[]): Promise<void> {
    const why = await whyBlocked(password, words);
    if (why === undefined) return;
    const detail = `The password is too easy to guess. ${why}`;
    throw Problem.validation([{ pointer: '/password', code: 'not_allowed', detail }]);
  }
}
