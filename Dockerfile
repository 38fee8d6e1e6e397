# docker build -t urlwarden .
# docker run -p 127.0.0.1:8080:8080 -v urlwarden:/data urlwarden

FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# The build needs no install scripts; one of them would download Node, which the image already has.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY portal portal
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM node:24-alpine
WORKDIR /app
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY package.json LICENSE ./
COPY bin bin
COPY migrations migrations
# bin/urlwarden.js explains the flag. With exec, signals reach the program.
RUN printf '#!/bin/sh\nexec node --max-semi-space-size=8 /app/bin/urlwarden.js "$@"\n' > /usr/local/bin/urlwarden \
  && chmod +x /usr/local/bin/urlwarden \
  && mkdir /data && chown node:node /data
USER node
VOLUME /data
# Listens on all interfaces of the container; `docker run -p` decides what is published.
ENV URLWARDEN_HOST=0.0.0.0 URLWARDEN_DATA=/data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD wget -q -O /dev/null http://127.0.0.1:8080/readyz || exit 1
ENTRYPOINT ["urlwarden"]
CMD ["serve"]
