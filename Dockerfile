# One image for every service, the gateway, the one-shot jobs and the command line: what runs is chosen by the command.
# The second base has a C++ runtime and no shell; Node itself is taken over from the first.
ARG NODE_IMAGE=node:24-trixie-slim
ARG RUNTIME_IMAGE=gcr.io/distroless/cc-debian13:nonroot

FROM ${NODE_IMAGE} AS packages
WORKDIR /headway
COPY . .
# What only development and the embedded default need stays out: dev dependencies, and Node and Postgres as npm packages.
RUN --mount=type=cache,id=headway-pnpm,target=/pnpm-store \
    npx --yes pnpm@12.21.0 install --store-dir /pnpm-store --frozen-lockfile --prod --no-optional \
      --filter-prod '{./services/**}...' --filter-prod '@headway/gateway...' \
      --filter-prod '@headway/database-roles...' --filter-prod '@headway/cli...'

FROM ${RUNTIME_IMAGE}
COPY --from=packages /usr/local/bin/node /usr/local/bin/node
COPY --from=packages /headway /headway
WORKDIR /headway
ENV NODE_ENV=production HEADWAY_HOST=0.0.0.0 HEADWAY_PORT=4680
USER 65532:65532
EXPOSE 4680
ENTRYPOINT ["/usr/local/bin/node"]
CMD ["packages/faces/cli/src/main.ts", "--help"]
