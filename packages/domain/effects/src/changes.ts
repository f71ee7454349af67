import type { SuccessSource } from '@headway/contracts';

/** What a decision about an operation says happened. The executor's journal writes each as an `EffectEvent`. */
export type OperationChanged =
  | { readonly change: 'proposed'; readonly digest: string; readonly planRevision: string | null }
  | { readonly change: 'admitted' }
  | { readonly change: 'rejected'; readonly reason: string }
  | { readonly change: 'claimed'; readonly epoch: number }
  | { readonly change: 'started'; readonly epoch: number }
  | { readonly change: 'succeeded'; readonly result: unknown; readonly source: SuccessSource }
  | { readonly change: 'failed'; readonly reason: string }
  | { readonly change: 'uncertain'; readonly epoch: number; readonly reason: string }
  | { readonly change: 'retry-authorised'; readonly reason: string }
  | { readonly change: 'withdrawn'; readonly reason: string }
  | { readonly change: 'abandoned'; readonly reason: string }
  | { readonly change: 'evidence-recorded'; readonly evidence: string };
