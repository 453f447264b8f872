import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Failure } from '../../ui/notices.tsx';
import { SecretOnce } from '../../ui/secret-once.tsx';
import { NewPair } from './new-pair.tsx';
import { SigningSelect } from './signing-select.tsx';
import { useChangeEndpoint, type ReadEndpoint } from './use-endpoints.ts';

/** A new secret or key pair, of the same kind or the other. */
export function RotateSecret({ read, onClose }: { read: ReadEndpoint; onClose: () => void }): ReactNode {
  const t = useTranslations('developers');
  const { endpoint, etag } = read;
  const [signing, setSigning] = useState(endpoint.signing);
  const { mutate, isPending, error, data } = useChangeEndpoint(endpoint.id);
  if (data?.secret !== undefined)
    return (
      <SecretOnce
        title={t('hooks.rotated', { name: endpoint.name })}
        secret={data.secret}
        lost={t('hooks.lost')}
        onClose={onClose}
      >
        {t('hooks.bothSign')}
      </SecretOnce>
    );
  if (data?.public_key != null)
    return (
      <NewPair
        title={t('hooks.keyOf', { name: endpoint.name })}
        publicKey={data.public_key}
        onClose={onClose}
      >
        {t('hooks.bothSign')}
      </NewPair>
    );
  return (
    <Dialog open onClose={onClose} title={t('hooks.rotate')} lead={t('hooks.rotateLead')}>
      <SigningSelect value={signing} onChange={setSigning} />
      {error !== null && <Failure error={error} />}
      <DialogActions>
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Button
          look="main"
          busy={isPending}
          onClick={() => mutate({ body: { rotate_secret: true, signing }, etag })}
        >
          {t('hooks.rotate')}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
