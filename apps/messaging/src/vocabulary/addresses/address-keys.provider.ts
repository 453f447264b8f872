import { Inject, Injectable } from '@nestjs/common';
import { MESSAGING_CONFIG, type MessagingConfig } from '../config/messaging.config.js';
import { AddressKeyring } from './address-keys.js';

/** The keyring over the configured peppers. */
@Injectable()
export class AddressKeys extends AddressKeyring {
  constructor(@Inject(MESSAGING_CONFIG) config: MessagingConfig) {
    super(config.addressPeppers);
  }
}
