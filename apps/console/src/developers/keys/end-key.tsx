import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm, Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Select } from '../../ui/form.tsx';
import { Failure } from '../../ui/notices.tsx';
import { SecretOnce } from '../../ui/secret-once.tsx';
import { useSay } from '../../ui/toasts.tsx';
import { GRACES } from './expiry.ts';
import { useKeysChanged, type ApiKey } from './use-keys.ts';

interface KeyDialogProps {
  of: ApiKey;
  onClose: () => void;
}

const DEFAULT_GRACE = 86_400;

/** A new key in place of this one, which goes on for a while. */
export function RotateKey({ of, onClose }: KeyDialogProps): ReactNode {
  const t = useTranslations('developers');
  const api = useApi();
  const changed = useKeysChanged();
  const [grace, setGrace] = useState(DEFAULT_GRACE);
  const rotation = useMutation({
    mutationFn: async () => {
      const params = { path: { id: of.id } };
      const body = { expires_in: grace };
      return (await api.POST('/v1/identity/api-keys/{id}/rotate', { params, body })).data;
    },
    onSuccess: changed,
  });
  const { data, error, isPending, mutate } = rotation;
  if (data !== undefined) {
    return (
      <SecretOnce
        title={t('keys.rotated', { name: of.name })}
        secret={data.key ?? null}
        lost={t('keys.lost')}
        onClose={onClose}
      >
        {t('keys.formerEnds', { when: t(`keys.graces.s${grace}` as 'keys.graces.s0') })}
      </SecretOnce>
    );
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('keys.rotateName', { name: of.name })}
      lead={t('keys.rotateLead')}
    >
      {error !== null && <Failure error={error} />}
      <Select
        label={t('keys.grace')}
        hint={t('keys.graceHint')}
        value={grace}
        onChange={({ target }) => setGrace(Number(target.value))}
        options={GRACES.map((value) => ({
          value: String(value),
          label: t(`keys.graces.s${value}` as 'keys.graces.s0'),
        }))}
      />
      <DialogActions>
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Button look="main" busy={isPending} onClick={() => mutate()}>
          {t('keys.rotate')}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

/** Ends a key at once. */
export function RevokeKey({ of, onClose }: KeyDialogProps): ReactNode {
  const t = useTranslations('developers');
  const api = useApi();
  const say = useSay();
  const changed = useKeysChanged();
  const { error, isPending, mutate } = useMutation({
    mutationFn: () => api.DELETE('/v1/identity/api-keys/{id}', { params: { path: { id: of.id } } }),
    onSuccess: async () => {
      await changed();
      say(t('keys.revoked', { name: of.name }));
      onClose();
    },
  });
  return (
    <Confirm
      open
      danger
      title={t('keys.revokeName', { name: of.name })}
      action={t('keys.revoke')}
      onClose={onClose}
      onConfirm={() => mutate()}
      busy={isPending}
      error={error}
    >
      {t('keys.revokeLead', { prefix: of.prefix })}
    </Confirm>
  );
}
